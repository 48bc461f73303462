import { expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

test("a program that is too slow to say its version can be used, and is asked again the next time", async () => {
  const dir = mkdtempSync(join(tmpdir(), "ov-probe-"));
  try {
    // It ignores SIGTERM, and what it started holds its output.
    const script = `#!/bin/sh\ntrap '' TERM\n[ -e ${dir}/fast ] || sleep 20\necho parrot 1.2.3\n`;
    writeFileSync(join(dir, "parrot"), script, { mode: 0o755 });
    const terms = { runtime: "parrot", program: "parrot", path: `${dir}:/usr/bin:/bin`, memory: join(dir, "memory") };
    const began = performance.now();
    expect(await probeRuntime({ ...terms, patienceMs: 300 })).toEqual({
      ok: true,
      value: { version: null, note: expect.stringContaining("parrot --version said nothing within 0.3 s") },
    });
    expect(performance.now() - began).toBeLessThan(15_000);
    writeFileSync(join(dir, "fast"), "");
    expect(await probeRuntime(terms)).toEqual({ ok: true, value: { version: "1.2.3" } });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}, 60_000);

test("a program that fails is refused at once, with its words", async () => {
  const dir = mkdtempSync(join(tmpdir(), "ov-probe-"));
  try {
    writeFileSync(join(dir, "parrot"), "#!/bin/sh\necho no beak >&2\nexit 3\n", { mode: 0o755 });
    const path = `${dir}:/usr/bin:/bin`;
    expect(await probeRuntime({ runtime: "parrot", program: "parrot", path })).toMatchObject({
      ok: false,
      refusal: { kind: "runtime-unavailable", problem: { kind: "broken", said: "no beak" } },
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

test("a program that is asked for its version carries the mark of a gate", async () => {
  const dir = mkdtempSync(join(tmpdir(), "ov-probe-"));
  try {
    const script = `#!/bin/sh\nsed -n 's/^Max file locks  *[^ ]*  *//p' /proc/self/limits > ${dir}/limit\necho 1.0\n`;
    writeFileSync(join(dir, "parrot"), script, { mode: 0o755 });
    await probeRuntime({ runtime: "parrot", program: "parrot", path: `${dir}:/usr/bin:/bin` });
    expect(readFileSync(join(dir, "limit"), "utf8")).toMatch(/^\d+ +locks/);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
