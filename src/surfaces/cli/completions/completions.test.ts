import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sampleTree } from "../../../../testkit/sample-tree.ts";
import { globalFlags } from "../globals.ts";
import { shells } from "../tree/tool-commands.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { spellings, spotsOf } from "./spots.ts";
import { zshScript } from "./zsh.ts";

const scripts = { bash: bashScript(sampleTree), zsh: zshScript(sampleTree), fish: fishScript(sampleTree) };
const { bash } = scripts;

let dir = "";
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "ov-complete-"));
});
afterAll(() => rmSync(dir, { recursive: true }));

describe("every script", () => {
  for (const shell of shells) {
    test(`${shell}: offers every visible command and flag in each of its forms`, () => {
      const script = scripts[shell] ?? "";
      for (const { commands, flags } of spotsOf(sampleTree)) {
        for (const { name } of commands) expect(script).toContain(`'${name}`);
        for (const word of [...flags, ...globalFlags].flatMap(spellings)) {
          const inFish = word.startsWith("--") ? ` -l ${word.slice(2)} ` : ` -s ${word.slice(1)} `;
          expect(script).toContain(shell === "fish" ? inFish : word);
        }
      }
      expect(script).not.toContain("trace-id");
      expect(script).not.toContain("refuse");
      expect(script).toContain("__complete");
    });

    test.skipIf(Bun.which(shell) === null)(`${shell}: the shell itself finds no mistake in it`, () => {
      const file = join(dir, `script.${shell}`);
      writeFileSync(file, scripts[shell] ?? "");
      const checked = Bun.spawnSync([shell, "-n", file]);
      expect(checked.stderr.toString()).toBe("");
      expect(checked.exitCode).toBe(0);
    });
  }
});

describe("in bash", () => {
  beforeAll(() => {
    const bin = join(dir, "bin");
    mkdirSync(bin);
    // Stands for the program: what it is asked is in its answer, and one value tries to run a command.
    writeFileSync(join(bin, "ov"), `#!/bin/sh\nprintf '%s\\n' "$2-1" 'lead-1' 'lead-$(touch ${dir}/hacked)'\n`);
    chmodSync(join(bin, "ov"), 0o755);
    writeFileSync(join(dir, "notes.md"), "");
  });

  function complete(...words: string[]): string[] {
    const driver = `${bash}
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_ov
printf '%s\\n' "\${COMPREPLY[@]}"`;
    const ran = Bun.spawnSync(["bash", "-c", driver, "bash", ...words], {
      cwd: dir,
      env: { PATH: `${join(dir, "bin")}:${process.env.PATH}` },
    });
    expect(ran.stderr.toString()).toBe("");
    return ran.stdout.toString().split("\n").filter(Boolean);
  }

  test("commands are completed at every depth", () => {
    expect(complete("ov", "")).toEqual(["mail", "merge", "nudge", "spec", "supervisor", "completions"]);
    expect(complete("ov", "mail", "")).toEqual(["send", "read", "list"]);
    expect(complete("ov", "me")).toEqual(["merge"]);
  });

  test("flags of the command and the global ones are completed, wherever global flags stand", () => {
    expect(complete("ov", "--project", "mail", "mail", "send", "--t")).toEqual(["--to", "--type", "--timing"]);
    expect(complete("ov", "mail", "-q", "send", "--no")).toEqual(["--notify", "--no-notify", "--no-color"]);
  });

  test("values come from the choices, behind a blank or an equals sign", () => {
    expect(complete("ov", "mail", "send", "--type", "")).toEqual(["status", "question", "dispatch"]);
    expect(complete("ov", "mail", "send", "--type", "=", "q")).toEqual(["question"]);
    expect(complete("ov", "mail", "send", "--type", "=")).toEqual(["status", "question", "dispatch"]);
    expect(complete("ov", "completions", "z")).toEqual(["zsh"]);
    expect(complete("ov", "mail", "send", "--body", "")).toEqual([]);
  });

  test("values that change are asked of the program, and never run as commands", async () => {
    const found = complete("ov", "mail", "send", "--to", "lead");
    expect(found[0]).toBe("lead-1");
    expect(found[1]).toContain("\\$\\(touch");
    expect(await Bun.file(join(dir, "hacked")).exists()).toBe(false);
    expect(complete("ov", "mail", "read", "mess")).toEqual(["messages-1"]);
    expect(complete("ov", "mail", "read", "m1", "mess")).toEqual([]);
  });

  test("files are completed by the shell, and each argument by its own rule", () => {
    expect(complete("ov", "spec", "no")).toEqual(["notes.md"]);
    expect(complete("ov", "spec", "notes.md", "")).toEqual(["short", "long"]);
  });
});
