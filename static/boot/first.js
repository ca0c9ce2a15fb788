// The first answer, ahead of the page: a module of its own that counts and holds the catalogs, and no interface. The
// page's own numbers take its place, and look the same.

/** Shows what `answer` of that module says of this address; nothing where it has none. */
export function show(answer) {
  const [title, workload, ...readings] = answer(location.href);
  if (title === undefined) return;
  const place = document.getElementById("first");
  place.querySelector(".title").textContent = title;
  place.querySelector(".workload").textContent = workload;
  place.querySelectorAll(".gauge").forEach((gauge, index) => {
    const [number, unit] = readings.slice(2 * index);
    gauge.querySelector(".figure").textContent = number || "–";
    gauge.querySelector(".unit").textContent = unit;
  });
  // On a phone the second, as the first stands below what is seen.
  for (const label of place.querySelectorAll(".basis, .bound")) label.textContent = "Roofline (upper bound)";
  place.dataset.answered = "";
}
