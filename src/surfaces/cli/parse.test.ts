import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { sampleTree } from "../../../testkit/sample-tree.ts";
import { exits } from "../shared/exits.ts";
import { globalFlags } from "./globals.ts";
import { type Parsed, parse } from "./parse.ts";
import { describeUsage, type UsageProblem } from "./usage.ts";

const read = (...argv: string[]): Parsed => parse(sampleTree, argv);

function called(...argv: string[]): Extract<Parsed, { kind: "call" }> {
  const parsed = read(...argv);
  if (parsed.kind !== "call") throw new Error(`not a call: ${JSON.stringify(parsed)}`);
  return parsed;
}

function problem(...argv: string[]): UsageProblem {
  const parsed = read(...argv);
  if (parsed.kind !== "problem") throw new Error(`no problem: ${parsed.kind}`);
  return parsed.problem;
}

const send = ["mail", "send", "--to", "lead-1", "--body", "hi"];

describe("values", () => {
  test("a value follows its flag, or an equals sign", () => {
    expect(called("mail", "send", "--to", "a", "--body=b=c").flags).toEqual({ to: "a", body: "b=c" });
    expect(called("mail", "send", "-t", "a", "-b=x").flags).toEqual({ to: "a", body: "x" });
  });

  test("an empty value is a value", () => {
    expect(called("mail", "send", "--to=", "--body", "").flags).toEqual({ to: "", body: "" });
  });

  test("of a repeated text the last counts, a repeated list grows", () => {
    expect(called(...send, "--to", "b", "--cc", "x, y,,", "--cc=z").flags).toMatchObject({
      to: "b",
      cc: ["x", "y", "z"],
    });
  });

  test("a whole number arrives as a number, also a negative one where allowed", () => {
    expect(called(...send, "--hops", "12").flags.hops).toBe(12);
    expect(problem(...send, "--hops", "-1")).toMatchObject({
      kind: "bad-value",
      field: "--hops",
      problem: "must be 0 or more",
    });
    for (const wrong of ["", " 5", "0x10", "1e3", "1.5", "ten", "99999999999999999999"]) {
      expect(problem(...send, `--hops=${wrong}`)).toMatchObject({
        kind: "bad-value",
        value: wrong,
        problem: "must be a whole number",
      });
    }
  });

  test("json must parse and is handed over as text", () => {
    expect(called(...send, "--payload", '{"a":1}').flags.payload).toBe('{"a":1}');
    expect(problem(...send, "--payload", "{a:1}")).toMatchObject({ kind: "bad-value", field: "--payload" });
  });

  test("a choice outside the list is refused with the nearest one", () => {
    expect(problem(...send, "--type", "statsu")).toMatchObject({
      kind: "bad-value",
      allowed: ["status", "question", "dispatch"],
      nearest: "status",
    });
    expect(problem("spec", "a.md", "shrt")).toMatchObject({ kind: "bad-value", field: "<style>", nearest: "short" });
  });

  test("an optional value is only taken behind an equals sign", () => {
    expect(called(...send, "--wait").flags.wait).toBe(true);
    expect(called(...send, "--wait=done").flags.wait).toBe("done");
    expect(problem(...send, "--wait", "done")).toMatchObject({ kind: "too-many-arguments", word: "done" });
  });

  test("a negatable switch has both forms and the last one counts", () => {
    expect(called(...send).flags.notify).toBeUndefined();
    expect(called(...send, "--notify").flags.notify).toBe(true);
    expect(called(...send, "--notify", "--no-notify").flags.notify).toBe(false);
    expect(problem(...send, "--no-wait")).toMatchObject({ kind: "unknown-flag", flag: "--no-wait" });
  });

  test("a switch takes no value", () => {
    expect(problem(...send, "--notify=yes")).toMatchObject({
      kind: "bad-value",
      field: "--notify",
      problem: "takes no value",
    });
    expect(read("mail", "list", "--json=1")).toMatchObject({ kind: "problem", globals: { json: true } });
  });
});

describe("values that start with a dash", () => {
  test("text that is no known flag is taken as it is", () => {
    expect(called("mail", "send", "--to", "a", "--body", "- one\n- two").flags.body).toBe("- one\n- two");
    expect(called("mail", "send", "--to", "a", "--body", "--nonsense").flags.body).toBe("--nonsense");
    expect(called("mail", "send", "--to", "a", "--body", "-").flags.body).toBe("-");
  });

  test("a known flag is never swallowed, and the hint names the other form", () => {
    const parsed = read("mail", "send", "--to", "a", "--body", "--json");
    expect(parsed).toMatchObject({ kind: "problem", globals: { json: true } });
    const found = problem("mail", "send", "--to", "a", "--body", "--json");
    expect(found).toMatchObject({ kind: "missing-value", flag: "--body", next: "--json" });
    expect(describeUsage(sampleTree, found).hint).toContain("--body=<text>");
    expect(called("mail", "send", "--to", "a", "--body=--json")).toMatchObject({
      flags: { body: "--json" },
      globals: { json: false },
    });
  });

  test("a flag that is not text takes only numbers", () => {
    expect(problem(...send, "--cc", "-x")).toMatchObject({ kind: "missing-value", flag: "--cc" });
    expect(called(...send, "--payload", "-5").flags.payload).toBe("-5");
  });

  test("numbers are arguments too", () => {
    expect(called("nudge", "bob", "-5", "-0.5").args).toEqual({ agent: "bob", words: ["-5", "-0.5"] });
  });

  test("after -- everything is an argument", () => {
    expect(called("nudge", "bob", "--", "--json", "-h", "--")).toMatchObject({
      args: { agent: "bob", words: ["--json", "-h", "--"] },
      globals: { json: false },
    });
    expect(problem("mail", "send", "--to", "--", "x")).toMatchObject({ kind: "missing-value", flag: "--to" });
  });
});

describe("commands and arguments", () => {
  test("a command may run and have commands below it", () => {
    expect(called("merge", "--branch", "b")).toMatchObject({ path: ["merge"], flags: { branch: "b" } });
    expect(called("merge", "list").path).toEqual(["merge", "list"]);
    expect(problem("merge", "lst")).toMatchObject({ kind: "unknown-command", path: ["merge"], nearest: "list" });
  });

  test("a flag before a sub-command must be known to that sub-command", () => {
    expect(called("merge", "--branch", "b", "list").flags).toEqual({ branch: "b" });
    expect(problem("merge", "--branch", "b", "undo")).toMatchObject({
      kind: "unknown-flag",
      path: ["merge", "undo"],
      flag: "--branch",
    });
  });

  test("the last argument may take all remaining words", () => {
    expect(called("nudge", "bob", "wake", "up").args).toEqual({ agent: "bob", words: ["wake", "up"] });
    expect(called("nudge", "bob").args).toEqual({ agent: "bob" });
  });

  test("a name of the tree behind an argument is only a word", () => {
    expect(called("nudge", "mail", "help").args).toEqual({ agent: "mail", words: ["help"] });
  });

  test("deprecated commands and flags work and are named", () => {
    expect(called("supervisor").notices).toEqual(["ov supervisor is deprecated: use ov lead"]);
    expect(called(...send, "--from", "x").notices).toEqual(["ov mail send --from is deprecated: the sender is known"]);
  });
});

describe("problems", () => {
  const cases: [UsageProblem["kind"], string[], Partial<Record<string, unknown>>][] = [
    ["unknown-command", ["mial"], { path: [], word: "mial", nearest: "mail" }],
    ["unknown-command", ["mail", "sned"], { path: ["mail"], nearest: "send" }],
    ["unknown-command", ["mail", "zzzzz"], { path: ["mail"] }],
    ["missing-subcommand", ["mail"], { path: ["mail"], available: ["send", "read", "list"] }],
    ["unknown-flag", [...send, "--tpye", "x"], { flag: "--tpye", nearest: "--type" }],
    ["unknown-flag", ["mail", "list", "--jsno"], { nearest: "--json" }],
    ["unknown-flag", ["mail", "list", "-json"], { flag: "-json", nearest: "--json" }],
    ["unknown-flag", ["mail", "list", "-x"], { flag: "-x" }],
    ["missing-value", ["mail", "send", "--to"], { flag: "--to", placeholder: "<agent>" }],
    ["missing-value", ["mail", "list", "--project"], { flag: "--project" }],
    ["bad-value", ["mail", "list", "--format", "xml"], { field: "--format", value: "xml" }],
    ["bad-value", ["mail", "list", "--format=jsn"], { nearest: "json" }],
    ["bad-value", ["mail", "list", "--project="], { field: "--project" }],
    ["missing-argument", ["mail", "read"], { argument: "<id>" }],
    ["missing-flag", ["mail", "send", "--to", "x"], { flag: "--body <text>" }],
    ["missing-flag", ["mail", "send"], { flag: "--to <agent> --body <text>" }],
    ["too-many-arguments", ["mail", "read", "a", "b"], { word: "b", most: 1 }],
    ["too-many-arguments", ["mail", "list", "a"], { word: "a", most: 0 }],
  ];
  for (const [kind, argv, fields] of cases) {
    test(`${argv.join(" ")}: ${kind}, exit 2, with a hint`, () => {
      const found = problem(...argv);
      expect(found).toMatchObject({ kind, ...fields });
      if (fields.nearest === undefined) expect(found.nearest).toBeUndefined();
      const described = describeUsage(sampleTree, found);
      expect(described).toMatchObject({ code: "VALIDATION_ERROR", exit: exits.usage, retryable: false });
      expect(described.hint).toContain(typeof fields.nearest === "string" ? fields.nearest : "--help");
    });
  }

  test("hidden commands and flags are never suggested", () => {
    expect(problem("refusse").nearest).toBeUndefined();
    expect(problem(...send, "--trace-idd", "x").nearest).toBeUndefined();
    expect(called(...send, "--trace-id", "x").flags["trace-id"]).toBe("x");
  });

  test("the first of several problems is the one reported", () => {
    expect(problem("mail", "read", "--bogus", "a", "b")).toMatchObject({ kind: "unknown-flag" });
  });
});

describe("global flags", () => {
  test("stand before, between and after the words of a command", () => {
    for (const argv of [
      ["--json", "-q", "--project", "/p", "mail", "list"],
      ["mail", "--json", "--quiet", "--project=/p", "list"],
      ["mail", "list", "--project", "/p", "-q", "--json"],
    ]) {
      expect(called(...argv)).toMatchObject({
        path: ["mail", "list"],
        globals: { json: true, quiet: true, project: "/p" },
      });
    }
  });

  test("every one of them is read", () => {
    expect(called("mail", "list", "--verbose", "--timing", "--no-color", "-y", "--format", "tsv").globals).toEqual({
      json: false,
      quiet: false,
      verbose: true,
      timing: true,
      noColor: true,
      yes: true,
      format: "tsv",
    });
  });

  test("win over a flag of the same name", () => {
    const { flags, globals } = called(...send, "--json");
    expect(globals.json).toBe(true);
    expect(flags).not.toHaveProperty("json");
  });

  test("are known even when the line has a problem before them", () => {
    expect(read("bogus", "x", "--json")).toMatchObject({ kind: "problem", globals: { json: true } });
    expect(read("mail", "send", "--bogus", "--json", "--quiet")).toMatchObject({
      globals: { json: true, quiet: true },
    });
  });

  test("may be put anywhere without changing what is called", () => {
    const switches = globalFlags.filter(
      ({ value, name }) => value === undefined && name !== "help" && name !== "version",
    );
    const spelled = fc.constantFrom(
      ...switches.map(({ name }) => [`--${name}`]),
      ["--project", "/p"],
      ["--format=json"],
    );
    const words = [["mail"], ["send"], ["--to", "a"], ["--body=b"], ["--cc", "x"]];
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(words.length), spelled), { maxLength: 6 }), (extras) => {
        const argv = words.flatMap((word, i) => [
          ...extras.filter(([at]) => at === i).flatMap(([, flag]) => flag),
          ...word,
        ]);
        const tail = extras.filter(([at]) => at === words.length).flatMap(([, flag]) => flag);
        const { path, flags, globals } = called(...argv, ...tail);
        expect({ path, flags }).toEqual({ path: ["mail", "send"], flags: { to: "a", body: "b", cc: ["x"] } });
        expect(globals.json).toBe(extras.some(([, flag]) => flag[0] === "--json"));
      }),
    );
  });
});

describe("help and version", () => {
  test("help is asked for by flag or by word, for the command reached", () => {
    for (const argv of [
      ["mail", "send", "--help"],
      ["-h", "mail", "send"],
      ["help", "mail", "send"],
      ["mail", "help", "send"],
    ]) {
      expect(read(...argv)).toMatchObject({ kind: "help", path: ["mail", "send"] });
    }
    expect(read()).toMatchObject({ kind: "help", path: [] });
    expect(read("help", "--json")).toMatchObject({ kind: "help", path: [], globals: { json: true } });
  });

  test("help is given in spite of what is missing, but not for a command that does not exist", () => {
    expect(read("mail", "--help")).toMatchObject({ kind: "help", path: ["mail"] });
    expect(read("mail", "send", "--bogus", "-h")).toMatchObject({ kind: "help", path: ["mail", "send"] });
    expect(read("bogus", "--help")).toMatchObject({ kind: "problem", problem: { kind: "unknown-command" } });
    expect(read("help", "mial")).toMatchObject({ kind: "problem", problem: { nearest: "mail" } });
  });

  test("the version is asked for anywhere", () => {
    expect(read("--version").kind).toBe("version");
    expect(read("mail", "list", "-v", "--json")).toMatchObject({ kind: "version", globals: { json: true } });
  });
});

test("no command line makes the parser throw", () => {
  const token = fc.oneof(
    fc.constantFrom(
      "mail",
      "send",
      "merge",
      "nudge",
      "--to",
      "--body",
      "--json",
      "--format",
      "--",
      "-",
      "help",
      "--no-notify",
      "-q",
    ),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(token, { maxLength: 8 }), (argv) => {
      const parsed = parse(sampleTree, argv);
      if (parsed.kind === "problem") expect(describeUsage(sampleTree, parsed.problem).exit).toBe(2);
    }),
  );
});
