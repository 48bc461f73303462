import { test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A test with bubblewrap. Where it is not installed the test is skipped and says so; in CI it fails. */
export function testConfined(name: string, body: () => Promise<void>, timeoutMs = 120_000): void {
  if (Bun.which("bwrap") !== null || process.env.CI === "true") {
    test(name, body, timeoutMs);
    return;
  }
  console.warn(`SKIPPED: bubblewrap is not installed (scripts/ci-deps); not tested: ${name}`);
  test.skip(name, () => {});
}

export const confining = "sandbox:\n  mode: os\n";

/** A bubblewrap that fails, as the real one does where user namespaces are forbidden. */
export async function withoutBubblewrap(work: (path: string) => Promise<void>): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "ov-no-bwrap-"));
  writeFileSync(join(dir, "bwrap"), "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n", {
    mode: 0o755,
  });
  try {
    await work(`${dir}:${process.env.PATH}`);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
