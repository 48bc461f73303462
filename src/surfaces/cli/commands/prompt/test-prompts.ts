import { ok } from "../../../../domain/result.ts";
import { checkRolePrompt, type Parses, type PromptProblem } from "../../../../domain/role/check/check-prompt.ts";
import type { RoleSpec } from "../../../../domain/role/role-spec.ts";
import { roleOf } from "../../../../domain/role/roles.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import { exits } from "../../../shared/exits.ts";
import type { Command, Handler } from "../../command.ts";
import { errorLine, successLine } from "../../marks.ts";
import { parse } from "../../parse.ts";
import { rolesMeant } from "./roles-meant.ts";

/** Checks the prompts that count in the project against this command line. */
export const testPrompts =
  (tree: Command): Handler =>
  async ({ app, args, io }) => {
    const roles = rolesMeant(args);
    const rendered = await app.call("prompt.render", { roles: roles.map(({ capability }) => capability) });
    if (!rendered.ok) return rendered;
    const problems = rendered.value.flatMap(({ role, ...prompt }) =>
      problemsOf(roleOf(role), prompt, parsesBy(tree)).map((problem) => ({ role, ...problem })),
    );
    const lines = problems.map(({ role, found, why }) =>
      errorLine(io.paint, `${role}: ${visibleLine(found)}: ${visibleLine(why)}`),
    );
    const good = `${roles.length === 1 ? "The prompt asks" : `${roles.length} prompts ask`} for nothing that is refused`;
    return ok({
      json: { success: problems.length === 0, roles: roles.map(({ capability }) => capability), problems },
      text: problems.length === 0 ? successLine(io.paint, good) : lines.join("\n"),
      exit: problems.length === 0 ? exits.ok : exits.check,
    });
  };

/** Why a command line cannot be run, by this tree. */
export const parsesBy =
  (tree: Command): Parses =>
  (words) => {
    const parsed = parse(tree, words);
    return parsed.kind === "problem" ? parsed.problem.kind : undefined;
  };

function problemsOf(
  role: RoleSpec,
  { text, unknown }: { readonly text: string; readonly unknown: readonly string[] },
  parses: Parses,
): readonly PromptProblem[] {
  if (unknown.length === 0) return checkRolePrompt(role, text, parses);
  return unknown.map((name) => ({
    kind: "placeholder",
    found: `{{${name}}}`,
    why: "it means nothing here, so agents get the text that ships",
  }));
}
