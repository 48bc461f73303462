import { describe, expect, test } from "bun:test";
import { renderDocs } from "../../../testkit/cli-reference.ts";
import { sampleTree } from "../../../testkit/sample-tree.ts";
import { plain } from "../shared/paint.ts";
import type { Command } from "./command.ts";
import { globalFlags } from "./globals.ts";
import { renderHelp } from "./help.ts";
import { helpData } from "./help-json.ts";
import { parse } from "./parse.ts";
import { tree } from "./tree.ts";

function help(words: string, width = 80): string {
  const parsed = parse(sampleTree, [...words.split(" ").filter(Boolean), "--help"]);
  if (parsed.kind !== "help") throw new Error("no such command");
  const { command, path } = parsed;
  return renderHelp({ tree: sampleTree, command, path, version: "1.2.3", width, paint: plain });
}

describe("help for a person", () => {
  test("the root shows title, usage, commands under their headings, flags, examples and where to go on", () => {
    const text = help("");
    expect(text).toStartWith("ov 1.2.3\nTurns one coding session into a team.\n\nUsage: ov <command> [flags]\n\n");
    const headings = text.split("\n").filter((line) => /^[A-Z][a-z ]+:$/.test(line));
    expect(headings).toEqual(["Talking:", "Landing:", "Other commands:", "Flags:", "Examples:"]);
    expect(text).toContain(
      "Talking:\n  mail                Read and write messages\n  nudge               Poke an agent\n",
    );
    expect(text.split("\n").at(-1)).toBe(
      "Run ov <command> --help for one command, ov help --json for all of them as data.",
    );
    for (const { name } of globalFlags) expect(text).toContain(`--${name}`);
  });

  test("commands that other programs call are not on the first screen, and have help of their own", () => {
    const { version, width } = { version: "1", width: 80 };
    const first = renderHelp({ tree, command: tree, path: [], version, width, paint: plain });
    for (const name of ["log", "hook", "mcp"]) {
      expect(first).not.toMatch(new RegExp(`^  ${name} `, "m"));
      const command = tree.commands?.find((one) => one.name === name);
      if (command === undefined) throw new Error(`there is no command ${name}`);
      expect(renderHelp({ tree, command, path: [name], version, width, paint: plain })).toContain(`Usage: ov ${name}`);
    }
    expect(first).toMatch(/^ {2}logs /m);
  });

  test("a command shows how it is typed, every flag with its rules, and its examples", () => {
    const text = help("mail send", 100);
    expect(text).toContain("Usage: ov mail send --to <agent> --body <text> [flags]");
    expect(text).toContain("Stores the message and wakes <agent>.\nNothing is typed into a terminal.");
    expect(text).toContain("  -t, --to <agent>    Who gets it (required)");
    expect(text).toContain("  --type <type>       Kind of message (status, question, dispatch)");
    expect(text).toContain("  --[no-]notify       Show a notice");
    expect(text).toContain("  --wait[=state]      Wait until it was read");
    expect(text).toContain("(deprecated: the sender is known)");
    expect(text).toContain("  ov mail send -t lead-1 -b 'it is done'\n    Reports to the lead");
  });

  test("a name longer than its field gets two spaces", () => {
    const long: Command = { name: "x", summary: "s", flags: [{ name: "a-very-long-flag-name", summary: "Means it" }] };
    const text = renderHelp({ tree: sampleTree, command: long, path: ["x"], version: "1", width: 80, paint: plain });
    expect(text).toContain("  --a-very-long-flag-name  Means it");
  });

  test("no line is wider than the terminal, and what is wrapped stands under itself", () => {
    for (const width of [50, 60, 80]) {
      for (const words of ["", "mail", "mail send", "spec"]) {
        const lines = help(words, width).split("\n");
        const wrapped = lines.filter(
          (line) => !line.startsWith("Usage:") && !line.startsWith("Run ") && !line.startsWith("  ov "),
        );
        for (const line of wrapped) expect(line.length).toBeLessThanOrEqual(width);
      }
    }
    expect(help("mail send", 50)).toContain(
      "  --type <type>       Kind of message (status,\n                      question, dispatch)",
    );
  });

  test("hidden things are not shown", () => {
    expect(help("")).not.toContain("refuse");
    expect(help("mail send")).not.toContain("trace-id");
  });
});

describe("help as data", () => {
  const data = helpData({ command: sampleTree, path: [], version: "1.2.3" });

  test("holds the whole visible tree, global flags and exit codes, and survives JSON", () => {
    const read = JSON.parse(JSON.stringify(data));
    expect(read).toMatchObject({ version: "1.2.3", exitCodes: { "2": expect.any(String), "130": expect.any(String) } });
    expect(read.globalFlags).toHaveLength(globalFlags.length);
    const names = read.tree.commands.map(({ name }: Command) => name);
    expect(names).toEqual(["mail", "merge", "nudge", "spec", "supervisor", "completions"]);
    const sent = read.tree.commands[0].commands[0];
    expect(sent).toMatchObject({ path: "mail send", runnable: true });
    expect(sent.flags.map(({ name, type }: { name: string; type: string }) => `${name}:${type}`)).toEqual([
      "to:text",
      "body:text",
      "type:text",
      "payload:json",
      "cc:list",
      "hops:integer",
      "wait:text",
      "notify:switch",
      "from:text",
    ]);
  });
});

describe("the docs page", () => {
  const page = renderDocs(sampleTree);

  test("is the same text for the same tree", () => {
    expect(renderDocs(sampleTree)).toBe(page);
    expect(page).toEndWith("\n");
    expect(page).not.toEndWith("\n\n");
  });

  test("has a section per visible command, and an index whose links lead there", () => {
    expect(page).toContain("\n### ov mail\n");
    expect(page).toContain("\n#### ov mail send\n");
    expect(page).toContain("[`ov mail`](#ov-mail)");
    expect(page).not.toContain("refuse");
    expect(page).toContain("**Deprecated**: use ov lead");
  });

  test("lists global flags and exit codes once", () => {
    expect(page.match(/`--timing`/g)).toHaveLength(1);
    expect(page).toContain("| 124 | timed out |");
  });

  test("placeholders outside of code are not lost as HTML", () => {
    expect(page).toContain("wakes &lt;agent>");
    expect(page).toContain("| `-t, --to <agent>` | Who gets it (required) |");
  });
});
