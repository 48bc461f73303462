import { describe, expect, test } from "bun:test";
import { sampleTree } from "../../../testkit/sample-tree.ts";
import { Failure } from "../../domain/failure.ts";
import { invalid } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import type { Handler } from "./command.ts";
import type { Globals } from "./globals.ts";
import { type CliInput, runCli, treeFor } from "./run.ts";
import type { Sink } from "./sink.ts";
import { tree } from "./tree.ts";

interface Ran {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

async function ov(argv: readonly string[], extra: Partial<CliInput> & { tty?: boolean } = {}): Promise<Ran> {
  const { tty = false, ...input } = extra;
  const said = { out: "", err: "" };
  const sink = (stream: "out" | "err"): Sink => ({
    write: (text) => {
      said[stream] += text;
      return "written";
    },
    isTTY: () => tty,
    isPipe: () => false,
    columns: () => (tty ? 60 : undefined),
  });
  const exit = await runCli({
    argv,
    env: {},
    tree: sampleTree,
    version: "1.2.3",
    makeApp: () => ({ version: "1.2.3", notices: async () => [] }) as never,
    stdout: sink("out"),
    stderr: sink("err"),
    stdin: async () => "typed",
    ...input,
  });
  return { exit, ...said };
}

const silent: Sink = { write: () => "written", isTTY: () => false, isPipe: () => false, columns: () => undefined };

/** Proves there is exactly one document: one line, which parses. */
function document({ out }: Ran): Record<string, unknown> {
  expect(out.endsWith("\n")).toBe(true);
  expect(out.trimEnd().split("\n")).toHaveLength(1);
  return JSON.parse(out);
}

const send = ["mail", "send", "--to", "lead-1", "--body", "hi"];

describe("success", () => {
  test("a person gets the text on stdout and nothing on stderr", async () => {
    expect(await ov(["mail", "list"])).toEqual({ exit: 0, out: "one message\n", err: "" });
  });

  test("what the project has to say beside the answer goes to stderr, and into the envelope as notices", async () => {
    const makeApp = () => ({ version: "1.2.3", notices: async () => ["the copy counts"] }) as never;
    expect(await ov(send, { makeApp })).toMatchObject({ exit: 0, err: "! the copy counts\n" });
    const { out } = await ov([...send, "--json"], { makeApp });
    expect(JSON.parse(out)).toMatchObject({ success: true, notices: ["the copy counts"] });
  });

  test("with --json the data is spread into one envelope that starts with success and command", async () => {
    const ran = await ov([...send, "--json"]);
    expect(ran.out).toStartWith('{"success":true,"command":"mail send","flags":');
    expect(document(ran)).toMatchObject({ flags: { to: "lead-1", body: "hi" } });
    expect(ran).toMatchObject({ exit: 0, err: "" });
  });

  test("--json is honoured before, between and after, and as --format json", async () => {
    const expected = (await ov(["mail", "list", "--json"])).out;
    for (const argv of [
      ["--json", "mail", "list"],
      ["mail", "--json", "list"],
      ["mail", "list", "--format", "json"],
    ]) {
      expect((await ov(argv)).out).toBe(expected);
    }
  });

  test("an answer of no keeps its own exit code and success, never another command's name", async () => {
    const ran = await ov(["talk", "--json", "-y"]);
    expect(document(ran)).toEqual({
      success: false,
      command: "talk",
      error: "data",
      code: "CHECK_ERROR",
      exitCode: 5,
      heard: "typed",
      yes: true,
    });
    expect(ran.exit).toBe(5);
  });

  test("talk goes to stderr and is silenced by --quiet, data is not", async () => {
    expect(await ov(["talk"])).toEqual({ exit: 5, out: "data\n", err: "said\n! warned\n" });
    expect(await ov(["talk", "-q"])).toEqual({ exit: 5, out: "data\n", err: "" });
  });

  test("--quiet leaves of a confirmation what the command says is data", async () => {
    expect((await ov(send)).out).toStartWith("mail send ");
    expect(await ov([...send, "--quiet"])).toEqual({ exit: 0, out: "", err: "" });
  });

  test("deprecated things are named on stderr, so stdout stays one document", async () => {
    const ran = await ov(["supervisor", "--json"]);
    expect(document(ran)).toMatchObject({ success: true, command: "supervisor" });
    expect(ran.err).toBe("! ov supervisor is deprecated: use ov lead\n");
    expect((await ov(["supervisor", "-q"])).err).toBe("");
  });

  test("--timing tells the elapsed time on stderr", async () => {
    expect((await ov(["mail", "list", "--timing"])).err).toMatch(/^(\d+ms|\d+\.\d\ds)\n$/);
  });

  describe("what is to happen after printing", () => {
    const leaf = (afterPrint: () => Promise<void>) => ({
      ...sampleTree,
      commands: [
        { name: "leaf", summary: "", run: async () => async () => ok({ json: {}, text: "text", afterPrint }) },
      ],
    });

    test("happens once the answer is out", async () => {
      let seen = "";
      const stdout: Sink = {
        ...silent,
        write: (text) => {
          seen += text;
          return "written";
        },
      };
      const tree = leaf(async () => {
        seen += "after";
      });
      expect((await ov(["leaf"], { tree, stdout })).exit).toBe(0);
      expect(seen).toBe("text\nafter");
    });

    test("does not happen when the reader went away", async () => {
      let happened = false;
      const tree = leaf(async () => {
        happened = true;
      });
      expect((await ov(["leaf"], { tree, stdout: { ...silent, write: () => "reader-gone" } })).exit).toBe(0);
      expect(happened).toBe(false);
    });

    test("is reported on stderr when it fails, so that stdout stays one document", async () => {
      const ran = await ov(["leaf", "--json"], { tree: leaf(() => Promise.reject(new Error("lost"))) });
      expect(document(ran)).toEqual({ success: true, command: "leaf" });
      expect(ran.exit).toBe(1);
      expect(ran.err).toStartWith("Error [INTERNAL_ERROR]: lost\n");
    });
  });

  test("the app is made from the global flags, and only for a line that can be run", async () => {
    const seen: Globals[] = [];
    const makeApp = (globals: Globals) => {
      seen.push(globals);
      return {} as never;
    };
    await ov(["mail", "list", "--project", "/p"], { makeApp });
    await ov(["mail", "--help"], { makeApp });
    await ov(["mail", "bogus"], { makeApp });
    expect(seen).toMatchObject([{ project: "/p" }]);
  });
});

describe("long lines", () => {
  const words = Array.from({ length: 30 }, (_, n) => `word${n}`).join(" ");
  const page = `Head: ${words}\n  | ${words}\nshort`;
  const tree = { name: "ov", summary: "", commands: [{ name: "leaf", summary: "", run: async () => leaf }] };
  const leaf = async () => ok({ json: {}, text: page, wraps: true } as const);

  test("are broken at the width of a terminal, text of others staying behind its bar", async () => {
    const { out } = await ov(["leaf", "--no-color"], { tree, tty: true });
    const lines = out.trimEnd().split("\n");
    expect(lines.every((line) => line.length <= 60)).toBe(true);
    const quoted = lines.filter((line) => line.startsWith("  | "));
    expect(quoted.map((line) => line.slice(4)).join(" ")).toBe(words);
    expect(
      lines
        .filter((line) => /^(Head:| {2}word)/.test(line))
        .map((line) => line.trim())
        .join(" "),
    ).toBe(`Head: ${words}`);
    expect(lines.at(-1)).toBe("short");
  });

  test("stay whole in a pipe or a file", async () => {
    expect((await ov(["leaf"], { tree })).out).toBe(`${page}\n`);
  });
});

test('a refusal after a change names the change that stays, and does not say "nothing was changed"', async () => {
  const refusing: Handler = async ({ io, flags }) => {
    if (flags.late === true) io.changed("the set-up");
    return no(invalid("target", "is no branch"));
  };
  const leaf = { name: "leaf", summary: "", flags: [{ name: "late", summary: "" }], run: async () => refusing };
  const tree = { name: "ov", summary: "", commands: [leaf] };
  expect((await ov(["leaf"], { tree })).err).toContain("target is no branch; nothing was changed\n");
  expect((await ov(["leaf", "--late"], { tree })).err).toContain(
    "target is no branch; done before that, and kept: the set-up\n",
  );
});

describe("lists", () => {
  test("--format table pads columns and shows control bytes", async () => {
    expect((await ov(["mail", "list", "--format", "table"])).out).toBe(
      "id         subject\nm1         tab here⏎and \\u{1b}[31mred\nmessage-2  漢字\n",
    );
  });

  test("--format tsv has one row per line whatever the cells hold", async () => {
    expect((await ov(["mail", "list", "--format=tsv"])).out).toBe(
      "id\tsubject\nm1\ttab\\there\\nand \\u{1b}[31mred\nmessage-2\t漢字\n",
    );
  });

  test("--format jsonl has one object per line", async () => {
    const { out } = await ov(["mail", "list", "--format", "jsonl"]);
    expect(
      out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).id),
    ).toEqual(["m1", "message-2"]);
  });

  test("--json wins over another format, and an answer without rows keeps its shape", async () => {
    expect(document(await ov(["mail", "list", "--json", "--format", "table"]))).toMatchObject({ command: "mail list" });
    expect(document(await ov([...send, "--format", "jsonl"]))).toMatchObject({ success: true });
    expect((await ov([...send, "--format", "tsv"])).out).toStartWith("mail send ");
  });
});

describe("failure", () => {
  test("a person gets code and message on stderr and the hint on its own line, foreign bytes shown", async () => {
    expect(await ov(["refuse"])).toEqual({
      exit: 7,
      out: "",
      err: 'Error [AGENT_ERROR]: no agent "bob\\u{1b}[2J"; nothing was changed\n  did you mean "rob"?\n',
    });
  });

  test("--quiet keeps the error and drops the hint", async () => {
    expect((await ov(["refuse", "-q"])).err).toBe(
      'Error [AGENT_ERROR]: no agent "bob\\u{1b}[2J"; nothing was changed\n',
    );
  });

  test("with --json stdout has the whole envelope and stderr nothing", async () => {
    const ran = await ov(["refuse", "--json"]);
    expect(ran).toMatchObject({ exit: 7, err: "" });
    expect(document(ran)).toEqual({
      success: false,
      command: "refuse",
      error: 'no agent "bob\u001b[2J"; nothing was changed',
      code: "AGENT_ERROR",
      hint: 'did you mean "rob"?',
      details: {
        kind: "not-found",
        noun: "agent",
        id: "bob\u001b[2J",
        nearest: "rob",
        agentName: "bob\u001b[2J",
        capability: null,
      },
      exitCode: 7,
      retryable: false,
    });
  });

  test("a refusal that knows no better advice points to the help of its command", async () => {
    expect(document(await ov(["reject", "--json"]))).toMatchObject({ hint: "see: ov reject --help" });
  });

  const usage: [string, string[]][] = [
    ["unknown-command", ["bogus"]],
    ["missing-subcommand", ["mail"]],
    ["unknown-flag", ["mail", "list", "--bogus"]],
    ["missing-flag", ["mail", "send"]],
    ["missing-value", ["mail", "send", "--to"]],
    ["bad-value", ["mail", "list", "--format", "xml"]],
    ["missing-argument", ["mail", "read"]],
    ["too-many-arguments", ["mail", "read", "a", "b"]],
  ];
  for (const [kind, argv] of usage) {
    test(`wrong usage (${kind}) exits 2 for a person and in JSON`, async () => {
      const person = await ov(argv);
      expect(person).toMatchObject({ exit: 2, out: "" });
      expect(person.err).toStartWith("Error [VALIDATION_ERROR]: ");
      const ran = await ov(["--json", ...argv]);
      expect(ran).toMatchObject({ exit: 2, err: "" });
      expect(document(ran)).toMatchObject({ success: false, code: "VALIDATION_ERROR", exitCode: 2, details: { kind } });
    });
  }

  test("an unknown command names itself ov in the envelope and suggests", async () => {
    expect(document(await ov(["mial", "--json"]))).toMatchObject({ command: "ov", hint: "did you mean: ov mail" });
    expect(document(await ov(["mail", "sned", "--json"]))).toMatchObject({
      command: "mail",
      hint: "did you mean: ov mail send",
    });
  });

  test("an unexpected failure exits 1 and shows where only with --verbose", async () => {
    const brief = await ov(["crash"]);
    expect(brief).toMatchObject({ exit: 1, out: "" });
    expect(brief.err).toStartWith("Error [INTERNAL_ERROR]: boom\n");
    expect(brief.err).not.toContain("at ");
    const verbose = await ov(["crash", "--verbose", "--json"]);
    expect(document(verbose)).toMatchObject({ error: "boom", exitCode: 1 });
    expect(verbose.err).toContain("sample-tree.ts");
    expect(verbose.err).toContain("caused by: Error: the reason");
  });

  test("a failure of the program keeps its own exit code", async () => {
    const makeApp = () => {
      throw new Failure({ kind: "not-initialised", root: "/p" });
    };
    const ran = await ov(["mail", "list", "--json"], { makeApp });
    expect(ran.exit).toBe(3);
    expect(document(ran)).toMatchObject({ code: "CONFIG_ERROR", hint: "set it up with: ov init", exitCode: 3 });
  });

  test("an answer that cannot be written is said on stderr", async () => {
    const full: Sink = {
      ...silent,
      write: () => {
        throw new Error("ENOSPC");
      },
    };
    const ran = await ov(["mail", "list", "--json"], { stdout: full });
    expect(ran).toEqual({
      exit: 10,
      out: "",
      err:
        "Error [OUTPUT_ERROR]: the command was carried out, but its answer could not be written: ENOSPC\n" +
        "  do not type it again; look at what it did with: ov status\n",
    });
  });
});

describe("help and version", () => {
  test("the version is bare, and with --json a document without envelope", async () => {
    expect(await ov(["--version"])).toEqual({ exit: 0, out: "1.2.3\n", err: "" });
    expect(document(await ov(["mail", "-v", "--json"]))).toEqual({
      name: "overstory",
      version: "1.2.3",
      runtime: "bun",
      platform: `${process.platform}-${process.arch}`,
    });
  });

  test("help goes to stdout, and with --json it is the tree as one document", async () => {
    expect(await ov(["mail", "--help"])).toMatchObject({ exit: 0, err: "" });
    expect(document(await ov(["help", "--json"]))).toMatchObject({
      success: true,
      command: "help",
      tree: { name: "ov" },
    });
    expect(document(await ov(["mail", "send", "-h", "--json"]))).toMatchObject({ tree: { path: "mail send" } });
  });
});

describe("colours", () => {
  test("belong to a terminal and are switched off by --no-color and NO_COLOR", async () => {
    expect((await ov(["talk"], { tty: true })).out).toBe("\u001b[31mdata\u001b[39m\n");
    expect((await ov(["talk", "--no-color"], { tty: true })).out).toBe("data\n");
    expect((await ov(["talk"], { tty: true, env: { NO_COLOR: "1" } })).out).toBe("data\n");
    expect((await ov(["talk"], { env: { FORCE_COLOR: "1" } })).out).toContain("\u001b[31m");
  });
});

const partOfTree = async (...argv: string[]) => (await treeFor(argv)).commands ?? [];

test("a command that is typed often is read without the others, and is the same command", async () => {
  for (const name of ["mail", "log", "hook", "mcp", "status", "merge", "task", "sling", "done"]) {
    expect(await partOfTree(name, "--json")).toEqual(tree.commands?.filter((command) => command.name === name) ?? []);
  }
});

test("all other words reach the whole tree", async () => {
  for (const argv of [[], ["--json", "status"], ["help", "status"], ["stats"], ["toString"], ["engine", "status"]]) {
    expect(await treeFor(argv)).toBe(tree);
  }
});
