import { expect, test } from "bun:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { type BuiltFile, buildPage, packOf } from "../../scripts/build-web.ts";
import { readPack } from "../../src/host/ui-files.ts";

const kB = 1000;
/** Drawings and editors may be larger than a page; they are loaded last. */
const large = /^\/assets\/(fleet-graph|diff|editor)/;

const text = ({ bytes }: BuiltFile): string => new TextDecoder().decode(bytes);
const gzipped = ({ bytes }: BuiltFile): number => gzipSync(bytes, { level: 9 }).length;

/** The files that are loaded with this one. */
function loadedWith(first: BuiltFile, files: readonly BuiltFile[]): ReadonlySet<BuiltFile> {
  const found = new Set([first]);
  for (const file of found) {
    for (const [, name] of text(file).matchAll(/(?:from|import)\s*"(?:\.|\/assets)\/([^"]+\.js)"/g)) {
      const other = files.find(({ path }) => path === `/assets/${name}`);
      if (other !== undefined) found.add(other);
    }
  }
  return found;
}

test("the page stays small: script, style and each page within their limits, and all of it can be embedded", async () => {
  const files = await buildPage();
  const html = text(files.find(({ path }) => path === "/index.html") as BuiltFile);
  const named = (ending: string): BuiltFile => {
    const path = new RegExp(`"(/assets/main-[^"]+\\.${ending})"`).exec(html)?.[1];
    return files.find((file) => file.path === path) as BuiltFile;
  };
  const entry = loadedWith(named("js"), files);
  const entrySize = [...entry].reduce((sum, file) => sum + gzipped(file), 0);
  expect(entrySize).toBeGreaterThan(100 * kB);
  expect(entrySize).toBeLessThanOrEqual(200 * kB);
  expect(gzipped(named("css"))).toBeLessThanOrEqual(40 * kB);
  const pages = files.filter((file) => file.path.endsWith(".js") && !entry.has(file));
  const tooLarge = pages.filter((file) => gzipped(file) > (large.test(file.path) ? 110 : 60) * kB);
  expect(tooLarge.map(({ path }) => path)).toEqual([]);
  expect(pages.length).toBeGreaterThan(2);

  const packed = readPack(packOf(files));
  const script = packed.get(named("js").path);
  expect(script?.bytes).toEqual(named("js").bytes);
  const unzipped = gunzipSync(script?.encodings.gzip ?? new Uint8Array());
  expect(Buffer.compare(unzipped, named("js").bytes)).toBe(0);
  expect(script?.immutable).toBe(true);
  expect(packed.get("/index.html")?.immutable).toBe(false);
  expect(html).toContain("__NONCE__");
});

test("every animation has its keyframes, under the name that the build gave both", async () => {
  const styles = (await buildPage()).filter(({ path }) => path.endsWith(".css")).map(text);
  const css = styles.join("\n");
  const made = new Set([...css.matchAll(/@keyframes ([\w-]+)/g)].map(([, name]) => name));
  const asked = [...css.matchAll(/[;{]animation(?:-name)?:([^;}]+)/g)].map(([, value = ""]) => value);
  expect(asked.length).toBeGreaterThan(3);
  // A menu waits for the end of its animation before it goes, and for ever where there is none of that name.
  expect(asked.filter((value) => value !== "none" && !value.split(/[ ,]/).some((word) => made.has(word)))).toEqual([]);
});
