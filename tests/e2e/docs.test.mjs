// Documents refer to what is there.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

const root = fileURLToPath(new URL("../../", import.meta.url));
const documents = ["README.md", "src/README.md", "src/ui/README.md", "models/README.md", "runs/README.md", "examples/README.md", "static/catalog/README.md", "training/README.md", ...readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`)];

/** The anchor of a heading, as GitHub makes it. */
const anchor = (heading) => heading.toLowerCase().replace(/[^\w\- ]/g, "").replaceAll(" ", "-");

for (const document of documents) {
  test(`${document}: its links lead somewhere`, () => {
    const text = readFileSync(join(root, document), "utf8").replace(/```[\s\S]*?```/g, "");
    for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue;
      const [file, fragment] = target.split("#");
      const path = file ? join(root, dirname(document), file) : join(root, document);
      assert.ok(existsSync(path), `${target} is not there`);
      if (!fragment) continue;
      const headings = [...readFileSync(path, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchor(heading));
      assert.ok(headings.includes(fragment), `${target}: no such heading among ${headings.join(", ")}`);
    }
  });
}

test("the index names every document", () => {
  const index = readFileSync(join(root, "docs/README.md"), "utf8");
  for (const name of readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md") && name !== "README.md"))
    assert.ok(index.includes(`(${name})`), name);
});

test("paths that documents for contributors name are there", () => {
  for (const document of ["docs/contributing.md", "docs/method.md"]) {
    const text = readFileSync(join(root, document), "utf8");
    for (const [, path] of text.matchAll(/`((?:src|static|tests|scripts|training|models|docs)\/[\w./-]*)`/g)) assert.ok(existsSync(join(root, path)), `${document}: ${path}`);
  }
});
