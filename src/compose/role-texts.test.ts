import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anAssignment, someTerms } from "../../testkit/assignments.ts";
import { readAsked } from "../domain/role/assignment.ts";
import { checkPrompt, checkRolePrompt, type PromptProblem } from "../domain/role/check-prompt.ts";
import { replacementOf } from "../domain/role/override.ts";
import { renderInstructions } from "../domain/role/render/overlay.ts";
import { renderPrompt } from "../domain/role/render/prompt.ts";
import type { RoleSpec } from "../domain/role/role-spec.ts";
import { roleList } from "../domain/role/roles.ts";
import { randomIds } from "../host/ids.ts";
import { ownTextFiles, readRoleText } from "../host/role-texts.ts";
import type { Command } from "../surfaces/cli/command.ts";
import { parsesBy } from "../surfaces/cli/commands/prompt.ts";
import { tree } from "../surfaces/cli/tree.ts";
import { builtInTexts } from "./role-texts.ts";

/** Commands that prompts speak of and that are still to be built. Must become empty. */
const pending: readonly string[] = [];

const exists = (words: string): boolean => {
  let node: Command | undefined = tree;
  for (const word of words.split(" ")) node = node?.commands?.find(({ name }) => name === word);
  return node !== undefined;
};
const parses = (words: readonly string[]): string | undefined =>
  pending.includes(words[0] ?? "") ? undefined : parsesBy(tree)(words);

function promptOf(role: RoleSpec): string {
  const made = renderPrompt(role, builtInTexts[role.capability], someTerms);
  if (!made.ok) throw new Error(`${role.capability} has unknown placeholders: ${made.refusal.unknown}`);
  return made.value;
}

const none: readonly PromptProblem[] = [];

test("a command leaves the list of pending ones when it is there", () => {
  expect(pending.filter(exists)).toEqual([]);
});

describe.each(roleList.map((role): [string, RoleSpec] => [role.capability, role]))("what a %s is told", (_, role) => {
  test("asks for nothing that is refused, leaves no placeholder, and keeps to its budget", () => {
    expect(checkRolePrompt(role, promptOf(role), parses)).toEqual(none);
  });

  test("asks for nothing that is refused with an assignment of any kind either", () => {
    const everything = {
      siblings: ["builder-t9"],
      profile: "ov-co-creation",
      dispatchMaxAgents: 2,
      skipScout: true,
      skipReview: true,
    };
    for (const asked of [readAsked(null), readAsked(JSON.stringify(everything))]) {
      for (const hasSpec of [true, false]) {
        for (const terms of [someTerms, { ...someTerms, gates: [], expertise: true }]) {
          const given = anAssignment(role.capability, { asked, hasSpec });
          expect(checkPrompt(role, renderInstructions(promptOf(role), given, terms), parses)).toEqual(none);
        }
      }
    }
  });

  test("names only commands that exist", () => {
    expect(role.commands.filter((words) => !exists(words) && !pending.includes(words.split(" ")[0] ?? ""))).toEqual([]);
  });

  test("comes from a text of its own of at most 8 KB", () => {
    const text = builtInTexts[role.capability];
    expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(8192);
  });
});

describe("in a project", () => {
  const dir = mkdtempSync(join(tmpdir(), "ov-role-texts-"));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  test("a text of its own wins over the one that ships, and an addition follows either", () => {
    const { replacement, addition } = ownTextFiles(dir, "builder");
    expect(readRoleText(builtInTexts, dir, "builder")).toMatchObject({ text: builtInTexts.builder, state: "built-in" });
    writeFileSync(replacement, replacementOf("builder", "Knit.\n", randomIds.digest(builtInTexts.builder)));
    expect(readRoleText(builtInTexts, dir, "builder")).toMatchObject({ state: "replaced", added: false });
    writeFileSync(addition, "Purl.\n");
    expect(readRoleText(builtInTexts, dir, "builder").text.trim()).toBe("Knit.\n\nPurl.");
    writeFileSync(replacement, "An earlier program wrote this.\n");
    expect(readRoleText(builtInTexts, dir, "builder")).toMatchObject({ state: "ignored", added: true });
    expect(readRoleText(builtInTexts, dir, "builder").text).toBe(`${builtInTexts.builder.trimEnd()}\n\nPurl.\n`);
  });

  test("a directory in the place of a text is no text", () => {
    mkdirSync(ownTextFiles(dir, "scout").replacement);
    expect(readRoleText(builtInTexts, dir, "scout").state).toBe("built-in");
  });
});
