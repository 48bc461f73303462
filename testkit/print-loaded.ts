import { writeSync } from "node:fs";
import { resolve } from "node:path";

const sources = `${resolve(import.meta.dir, "..", "src")}/`;

/** Preloaded before the program: prints the files of `src` that it has loaded when it ends, one on a line. */
process.on("exit", () => {
  const loaded = Object.keys(require.cache).filter((path) => path.startsWith(sources));
  writeSync(2, loaded.map((path) => `loaded ${path.slice(sources.length)}\n`).join(""));
});
