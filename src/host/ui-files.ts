import { readFileSync, watch } from "node:fs";
import { resolve } from "node:path";
import type { UiFile, UiFiles, UiSources } from "../ports/ui-files.ts";

/**
 * Opens the page. In the compiled program it is embedded. In a checkout it is built when it is first asked for, and again
 * when its sources have changed; that takes a second or two.
 */
export async function openUiFiles(): Promise<UiFiles> {
  const path = isCompiled() ? (await import("./ui-pack.ts")).default : await builtPack();
  return readPack(readFileSync(path));
}

const isCompiled = (): boolean => Bun.main.startsWith("/$bunfs/");

async function builtPack(...flags: readonly string[]): Promise<string> {
  const root = resolve(import.meta.dir, "../..");
  const build = Bun.spawn([resolve(root, "scripts/build-web"), ...flags], { stdout: "pipe", stderr: "pipe" });
  const [made, trouble] = await Promise.all([new Response(build.stdout).text(), new Response(build.stderr).text()]);
  if ((await build.exited) !== 0) throw new Error(`the page could not be built: ${trouble.trim()}`);
  return made.trim();
}

/** Sources that are written as a swarm of files become one build. */
const swarmMs = 100;

/** Opens the sources of the page for work on them. Undefined in the compiled program, which has none. */
export async function openUiSources(): Promise<UiSources | undefined> {
  if (isCompiled()) return undefined;
  let files = readPack(readFileSync(await builtPack("--dev")));
  const listeners = new Set<(problem: string | undefined) => void>();
  const build = async (): Promise<void> => {
    let problem: string | undefined;
    try {
      files = readPack(readFileSync(await builtPack("--dev")));
    } catch (error) {
      // A file is being written. The page stays as it was.
      problem = error instanceof Error ? error.message : String(error);
    }
    for (const tell of listeners) tell(problem);
  };
  let building = Promise.resolve();
  let soon: ReturnType<typeof setTimeout> | undefined;
  const watcher = watch(resolve(import.meta.dir, "../../web"), { recursive: true }, () => {
    clearTimeout(soon);
    soon = setTimeout(() => {
      building = building.then(build);
    }, swarmMs);
  });
  return {
    get: (path) => files.get(path),
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: async () => {
      watcher.close();
      clearTimeout(soon);
      await building;
    },
  };
}

interface Entry {
  readonly path: string;
  readonly type: string;
  readonly immutable: boolean;
  /** The sizes of the plain form, and of gzip and brotli where they exist. */
  readonly sizes: readonly number[];
}

/** A pack is one line of JSON that lists its files, and behind it their bytes; `scripts/build-web.ts` writes it. */
export function readPack(pack: Uint8Array): UiFiles {
  const end = pack.indexOf(10);
  const files = new Map<string, UiFile>();
  let at = end + 1;
  for (const { path, type, immutable, sizes } of JSON.parse(
    new TextDecoder().decode(pack.subarray(0, end)),
  ) as Entry[]) {
    const [bytes = new Uint8Array(), gzip, br] = sizes.map((size) => {
      at += size;
      return pack.subarray(at - size, at);
    });
    files.set(path, { bytes, type, immutable, encodings: { ...(gzip ? { gzip } : {}), ...(br ? { br } : {}) } });
  }
  return { get: (path) => files.get(path) };
}
