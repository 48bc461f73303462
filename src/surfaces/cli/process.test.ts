import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

describe("as a process", () => {
  let dir = "";
  let program = "";
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), "ov-cli-"));
    program = join(dir, "main.ts");
    writeFileSync(
      program,
      `import { runCli } from ${JSON.stringify(join(import.meta.dir, "run.ts"))};
import { sampleTree } from ${JSON.stringify(join(import.meta.dir, "../../../testkit/sample-tree.ts"))};
runCli({ argv: process.argv.slice(2), env: process.env, tree: sampleTree, version: "1.2.3", makeApp: () => ({ version: "1.2.3", notices: async () => [] }) })
  .then((code) => process.exit(code));
`,
    );
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  const shell = async (line: string, env: Record<string, string> = {}) => {
    const child = Bun.spawn(["bash", "-c", line.replaceAll("OV", `"${process.execPath}" "${program}"`)], {
      stdout: "pipe",
      stderr: "pipe",
      stdin: "ignore",
      env: { PATH: process.env.PATH ?? "", ...env },
    });
    const [out, err, exit] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    return { out, err, exit };
  };

  test("five megabytes reach a slow reader completely", async () => {
    expect(await shell("OV large | (sleep 0.3; wc -c)")).toMatchObject({
      out: expect.stringContaining("5000001"),
      err: "",
    });
  });

  test("a pipe that was made non-blocking is waited for", async () => {
    const nonBlocking = `${JSON.stringify("import fcntl,os,subprocess,sys; f=fcntl.fcntl(1,fcntl.F_GETFL); fcntl.fcntl(1,fcntl.F_SETFL,f|os.O_NONBLOCK); sys.exit(subprocess.call(sys.argv[1:]))")}`;
    const ran = await shell(
      `command -v python3 >/dev/null || { echo 5000001; exit; }; python3 -c ${nonBlocking} OV large | (sleep 0.3; wc -c)`,
    );
    expect(ran).toMatchObject({ out: expect.stringContaining("5000001"), err: "" });
  });

  test("a reader that leaves early ends the program silently with 0", async () => {
    expect(await shell('OV large | head -c 10; echo " $PIPESTATUS"')).toEqual({
      out: "xxxxxxxxxx 0\n",
      err: "",
      exit: 0,
    });
  });

  test("a reader that leaves does not turn a failure into success", async () => {
    expect((await shell("OV bogus --json | true; echo $PIPESTATUS")).out).toBe("2\n");
  });

  test("a full disk is an error, not silence", async () => {
    const ran = await shell("OV mail list --json > /dev/full; echo $?");
    expect(ran.out).toBe("10\n");
    expect(ran.err).toContain("ENOSPC");
  });

  test("standard input is read to its end", async () => {
    expect(JSON.parse((await shell("printf 'a\\nb' | OV talk --json -q")).out)).toMatchObject({ heard: "a\nb" });
  });

  test("a pipe gets no colours", async () => {
    expect((await shell("OV talk | cat", { TERM: "xterm-256color" })).out).toBe("data\n");
  });

  test("parsing and running load nothing of help or completions", async () => {
    const probe = join(dir, "probe.ts");
    writeFileSync(
      probe,
      `import { runCli } from ${JSON.stringify(join(import.meta.dir, "run.ts"))};
const leaf = { name: "leaf", summary: "", run: async () => async () => ({ ok: true as const, value: { json: {}, text: "ok" } }) };
runCli({ argv: ["leaf", "--json"], env: {}, tree: { name: "ov", summary: "", commands: [leaf] }, version: "1", makeApp: () => ({ version: "1", notices: async () => [] }) })
  .then(() => console.error(Object.keys(require.cache).map((path) => path.split("/").pop()).sort().join(" ")));
`,
    );
    const { err } = await shell(`"${process.execPath}" "${probe}"`);
    expect(err).toContain("parse.ts");
    for (const lazy of [
      "help",
      "help-json",
      "layout",
      "usage",
      "refusals",
      "failures",
      "table",
      "format",
      "bash",
      "visible",
    ]) {
      expect(err.split(" ")).not.toContain(`${lazy}.ts`);
    }
  });
});

describe("the commands that hooks and people call most", () => {
  const commands = join(import.meta.dir, "commands");
  /** The files of other commands that are loaded with this one. */
  function loadedWith(file: string, found = new Set<string>()): readonly string[] {
    const scanned = new Bun.Transpiler({ loader: "ts" }).scanImports(readFileSync(join(commands, file), "utf8"));
    for (const { path, kind } of scanned) {
      if (kind !== "import-statement" || !path.startsWith("./") || found.has(path)) continue;
      found.add(path);
      loadedWith(path, found);
    }
    return [...found].toSorted();
  }

  test("load no other command", () => {
    expect(loadedWith("mail-check.ts")).toEqual([]);
    expect(loadedWith("hook.ts")).toEqual([]);
    expect(loadedWith("status.ts")).toEqual(["./merge-render.ts", "./operator-render.ts"]);
  });
});
