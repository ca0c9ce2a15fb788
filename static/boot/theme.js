// What must be known before the first paint: whether the page introduces itself, as it was opened without a link (`press.js`), and
// the stored theme, which the page maintains afterwards.
if (!location.search && location.hash.length < 2) document.documentElement.dataset.first = "";
try {
  document.documentElement.dataset.theme = localStorage.getItem("rooflight-theme") ?? "system";
} catch {
  // Storage throws in a frame without an origin: keep the system's theme.
}
