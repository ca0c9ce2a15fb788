// Applies the stored theme before the first paint; the page maintains it afterwards.
try {
  document.documentElement.dataset.theme = localStorage.getItem("rooflight-theme") ?? "system";
} catch {
  // Storage throws in a frame without an origin: keep the system's theme.
}
