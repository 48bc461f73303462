import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { extname, join, resolve } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

/**
 * Builds the page into one pack: `node_modules/.cache/web/ui.pack`. The first line of a pack is a JSON list of its files
 * with type, sizes and whether the name holds the hash of the content; their bytes follow in that order, each as they are,
 * gzip and brotli. One file is easy to embed, and to replace in one step.
 */

const root = resolve(import.meta.dir, "..");
const cache = join(root, "node_modules/.cache/web");

export interface BuiltFile {
  readonly path: string;
  readonly type: string;
  readonly immutable: boolean;
  readonly bytes: Uint8Array;
}

/** The files of the page as a browser gets them, not compressed. */
export async function buildPage({ minify = true }: { readonly minify?: boolean } = {}): Promise<readonly BuiltFile[]> {
  const built = await Bun.build({
    entrypoints: [join(root, "web/src/main.tsx"), ...workers()],
    root: join(root, "web/src"),
    target: "browser",
    format: "esm",
    splitting: true,
    minify,
    define: { "process.env.NODE_ENV": minify ? '"production"' : '"development"' },
    naming: {
      entry: "assets/[name]-[hash].[ext]",
      chunk: "assets/[name]-[hash].[ext]",
      asset: "assets/[name]-[hash].[ext]",
    },
    publicPath: "/",
  });
  const assets: BuiltFile[] = [];
  for (const output of built.outputs) {
    const path = pathOf(output.path);
    // The style sheet of the entry holds those of all pages; the others are read by nothing.
    if (path.endsWith(".css") && !path.startsWith("/assets/main-")) continue;
    assets.push({ path, type: typeOf(path), immutable: true, bytes: new Uint8Array(await output.arrayBuffer()) });
  }
  const made = (fits: (output: (typeof built.outputs)[number]) => boolean): string => {
    const at = built.outputs.findIndex(fits);
    if (at < 0) throw new Error("the build made no entry");
    return pathOf(built.outputs[at]?.path ?? "");
  };
  const script = made(({ kind, path }) => kind === "entry-point" && path.endsWith(".js") && path.includes("main-"));
  const style = made(({ path }) => path.endsWith(".css") && path.includes("main-"));
  const html = readFileSync(join(root, "web/index.html"), "utf8")
    .replace("__STYLE__", style)
    .replace("__SCRIPT__", script)
    .replace("__WORKERS__", assets.flatMap(({ path }) => (/\.worker-\w+\.js$/.test(path) ? [path] : [])).join(" "));
  return [
    { path: "/index.html", type: typeOf("index.html"), immutable: false, bytes: new TextEncoder().encode(html) },
    ...icons.map((name) => ({
      path: `/${name}`,
      type: typeOf(name),
      immutable: false,
      bytes: readFileSync(join(root, "web", name)),
    })),
    ...assets,
  ];
}

const icons = ["icon.svg", "icon-mark.svg"];

const pathOf = (path: string): string => `/${path.replace(/^\.?\//, "")}`;

/** Scripts that run beside the page, each its own entry: `*.worker.ts`. */
const workers = (): string[] =>
  [...new Bun.Glob("src/**/*.worker.ts").scanSync(join(root, "web"))].map((file) => join(root, "web", file));

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};
const typeOf = (path: string): string => types[extname(path)] ?? "application/octet-stream";

export function packOf(files: readonly BuiltFile[], { compress = true } = {}): Uint8Array {
  const parts: Uint8Array[] = [];
  const index = files.map(({ path, type, immutable, bytes }) => {
    // The template of the page is filled in for each response, so only its plain form is of use.
    const forms = immutable && compress ? [bytes, gzipSync(bytes, { level: 9 }), brotli(bytes)] : [bytes];
    parts.push(...forms);
    return { path, type, immutable, sizes: forms.map(({ length }) => length) };
  });
  return Buffer.concat([new TextEncoder().encode(`${JSON.stringify(index)}\n`), ...parts]);
}

const brotli = (bytes: Uint8Array): Uint8Array =>
  brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  });

/** Names the sources: the same name, the same page. */
function sourcesHash(): string {
  const hash = createHash("sha256");
  const sources = [...new Bun.Glob("web/src/**/*.{ts,tsx,css}").scanSync(root)];
  if (sources.length === 0) throw new Error("the page has no sources");
  const pictures = icons.map((name) => `web/${name}`);
  const files = [...sources, "web/index.html", ...pictures, "package-lock.json", "scripts/build-web.ts"];
  for (const file of files.toSorted())
    hash
      .update(file)
      .update("\0")
      .update(readFileSync(join(root, file)));
  return hash.digest("hex");
}

/** For `ov serve --dev`: as the sources are at this moment, readable, and quick to build. */
async function buildForWork(): Promise<string> {
  mkdirSync(cache, { recursive: true });
  const pack = join(cache, "ui-dev.pack");
  const made = `${pack}.${process.pid}`;
  writeFileSync(made, packOf(await buildPage({ minify: false }), { compress: false }));
  renameSync(made, pack);
  return pack;
}

if (import.meta.main && process.argv.includes("--dev")) {
  console.log(await buildForWork());
} else if (import.meta.main) {
  const pack = join(cache, "ui.pack");
  const stamp = join(cache, "sources");
  const hash = sourcesHash();
  if (!existsSync(pack) || !existsSync(stamp) || readFileSync(stamp, "utf8") !== hash) {
    mkdirSync(cache, { recursive: true });
    const made = join(cache, `ui.pack.${process.pid}`);
    writeFileSync(made, packOf(await buildPage()));
    renameSync(made, pack);
    writeFileSync(stamp, hash);
    for (const name of readdirSync(cache)) if (/^ui\.pack\.\d+$/.test(name)) rmSync(join(cache, name), { force: true });
  }
  console.log(pack);
}
