import { expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { probeRuntime } from "./runtime-probe.ts";

test.each([
  ["echo 'GitHub Copilot CLI 1.0.102.'; echo \"Run 'copilot update'.\"", "1.0.102"],
  ["echo 0.73.1 >&2", "0.73.1"],
  ["echo 'codex-cli 0.166.0-alpha.2+b1'", "0.166.0-alpha.2+b1"],
])("the version of a program that does %j is %s", async (script, version) => {
  const dir = mkdtempSync(join(tmpdir(), "ov-probe-"));
  try {
    writeFileSync(join(dir, "parrot"), `#!/bin/sh\n${script}\n`);
    chmodSync(join(dir, "parrot"), 0o755);
    const path = `${dir}:/usr/bin:/bin`;
    expect(await probeRuntime({ runtime: "parrot", program: "parrot", path, memory: join(dir, "memory") })).toEqual({
      ok: true,
      value: { version },
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
