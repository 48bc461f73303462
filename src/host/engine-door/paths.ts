import { tmpdir } from "node:os";
import { join } from "node:path";

/** Unix socket paths have room for about 100 bytes. */
const longestSocketPath = 100;

/** Where engine and callers of one project meet. Callers never compute the socket: they read it from the notice. */
export function doorPaths(state: string): {
  run: string;
  notice: string;
  keeper: string;
  lock: string;
  successor: string;
  socket: string;
} {
  const run = join(state, "run");
  return {
    run,
    notice: join(run, "engine.json"),
    keeper: join(run, "keeper.json"),
    lock: join(run, "keeper.lock"),
    successor: join(run, "successor.json"),
    socket: socketPath(run),
  };
}

function socketPath(run: string): string {
  const near = join(run, "engine.sock");
  if (Buffer.byteLength(near) <= longestSocketPath) return near;
  const name = new Bun.CryptoHasher("sha256").update(run).digest("hex").slice(0, 16);
  return join(process.env.XDG_RUNTIME_DIR ?? tmpdir(), `overstory-${name}`, "engine.sock");
}
