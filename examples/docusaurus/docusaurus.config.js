// A Docusaurus site with live predictions.
const rooflight = process.env.ROOFLIGHT_URL ?? "https://example.org/rooflight/";

export default {
  title: "Serving guide",
  url: "https://example.org",
  baseUrl: "/",
  onBrokenLinks: "throw",
  scripts: [{ src: `${rooflight}roof-light.js`, type: "module" }],
  presets: [["classic", { docs: { routeBasePath: "/", sidebarPath: undefined }, blog: false, pages: false }]],
};
