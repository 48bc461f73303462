import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { plantedSecrets, secretSorts } from "../../../testkit/secrets.ts";
import { trackedSecrets } from "./tracked-secrets.ts";

const key = plantedSecrets(secretSorts.length).find(({ sort }) => sort === "Anthropic key")?.text ?? "";

test("tracked texts are read; what git does not track, links, binary files, tests and lock files are not", async () => {
  const root = mkdtempSync(join(tmpdir(), "ov-secrets-"));
  try {
    const git = (...args: string[]) => Bun.spawnSync(["git", ...args], { cwd: root });
    const write = (path: string, text: string): void => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    };
    git("init", "--quiet");
    write("secrets.env", `A=1\nKEY=${key}\n`);
    write("src/a b.ts", `// ${key}`);
    write("docs/ü.md", `\n\n${key}\n`);
    write("fine.txt", "nothing\n");
    write("image.bin", `\0${key}`);
    write("test/a.ts", key);
    write("src/b.test.ts", key);
    write("package-lock.json", key);
    write("large.txt", `${"x".repeat(600_000)}\n${key}`);
    write("id_rsa", "");
    symlinkSync("secrets.env", join(root, "link"));
    git("add", "-A");
    write("untracked.env", key);
    write("gone.txt", key);
    git("add", "gone.txt");
    rmSync(join(root, "gone.txt"));
    expect(await trackedSecrets(root)).toEqual({
      named: ["id_rsa"],
      lines: [
        { path: "docs/ü.md", line: 3 },
        { path: "secrets.env", line: 2 },
        { path: "src/a b.ts", line: 1 },
      ],
      unread: { tests: 2, large: 1, late: 0 },
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
