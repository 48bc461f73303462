import { expect, test } from "bun:test";
import { join } from "node:path";

/** Begins a command that root runs without root's privileges. It stays the owner of its files. */
export const withoutPrivileges = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"];

/**
 * A test about what file modes forbid. They forbid root nothing, so as root the test runs once more in a process without
 * root's privileges. `file` is the file of the test.
 */
export function testWithoutPrivileges(name: string, file: string, body: () => Promise<void>): void {
  if (process.getuid?.() !== 0 || process.env[mark] !== undefined) {
    test(name, body);
    return;
  }
  test(name, async () => {
    const only = `${name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;
    const bun = join(import.meta.dirname, "..", "scripts", "bun");
    const inside = Bun.spawn({
      cmd: [...withoutPrivileges, bun, "test", file, "-t", only],
      env: { ...process.env, [mark]: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [out, err] = await Promise.all([inside.stdout.text(), inside.stderr.text()]);
    expect({ code: await inside.exited, failed: err.includes("(fail)") ? `${out}${err}` : "" }).toEqual({
      code: 0,
      failed: "",
    });
  });
}

const mark = "OV_TEST_WITHOUT_PRIVILEGES";
