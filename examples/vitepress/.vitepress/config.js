// A VitePress site with live predictions.
const rooflight = process.env.ROOFLIGHT_URL ?? "https://example.org/rooflight/";

export default {
  title: "Serving guide",
  head: [["script", { type: "module", src: `${rooflight}roof-light.js` }]],
  // The element is the page's own, not a component of Vue's.
  vue: { template: { compilerOptions: { isCustomElement: (tag) => tag === "roof-light" } } },
};
