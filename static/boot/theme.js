// Applies the stored theme before the first paint; the page keeps it from then on.
try {
  document.documentElement.dataset.theme = localStorage.getItem("rooflight-theme") ?? "system";
} catch {
  // Storage throws in a frame without an origin: the system's theme stands.
}
