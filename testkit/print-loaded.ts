import { writeSync } from "node:fs";
import { resolve } from "node:path";

const sources = `${resolve(import.meta.dir, "..", "src")}/`;

/** Preloaded before the program: prints the modules of `src` that it has loaded when it ends, one on a line. Of other files, as of migrations, only the path is imported. */
process.on("exit", () => {
  const loaded = Object.keys(require.cache).filter((path) => path.startsWith(sources) && path.endsWith(".ts"));
  writeSync(2, loaded.map((path) => `loaded ${path.slice(sources.length)}\n`).join(""));
});
