import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const hasScript = Bun.which("script") !== null && Bun.which("stty") !== null;
if (!hasScript) console.warn("SKIPPED: script and stty are needed to test programs at a terminal");

/** Starts a program at its terminal, waits for its end, and prints what a shell would read then. */
const attaching = (launcher: string, go: string): string => `
import { terminalLauncher } from ${JSON.stringify(launcher)};
const env = { PATH: process.env.PATH };
const argv = ["/bin/sh", "-c", "echo started; until [ -e '${go}' ]; do sleep 0.05; done"];
const child = terminalLauncher.start({ argv, mark: 32 * 2 ** 47, env, cwd: "/" });
await child.release();
await child.exited;
const shell = "stty -icanon -echo min 0 time 0; printf '<'; cat; printf '>\\n'; stty icanon echo";
Bun.spawnSync({ cmd: ["/bin/sh", "-c", shell], stdio: ["inherit", "inherit", "inherit"] });
`;

test.skipIf(!hasScript)("what a program at the terminal left unread is not there for the shell after it", async () => {
  const dir = mkdtempSync(join(tmpdir(), "ov-terminal-"));
  try {
    const program = join(dir, "attach.ts");
    writeFileSync(program, attaching(join(import.meta.dir, "agent-launcher.ts"), join(dir, "go")));
    const child = Bun.spawn({
      cmd: ["script", "-qec", `'${process.execPath}' '${program}'`, "/dev/null"],
      stdio: ["pipe", "pipe", "inherit"],
    });
    let said = "";
    let typed = false;
    for await (const chunk of child.stdout) {
      said += Buffer.from(chunk).toString();
      if (!typed && said.includes("started")) {
        typed = true;
        child.stdin.write("ov config set x y\nhalf a line");
        await child.stdin.flush();
      }
      // The terminal shows what was typed as soon as it has it.
      if (said.includes("half a line")) writeFileSync(join(dir, "go"), "");
    }
    await child.exited;
    expect(said).toContain("<>");
  } finally {
    rmSync(dir, { recursive: true });
  }
});
