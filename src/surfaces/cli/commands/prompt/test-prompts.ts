import { ok } from "../../../../domain/result.ts";
import { checkRolePrompt, type Parses, type PromptProblem } from "../../../../domain/role/check/check-prompt.ts";
import { renderPrompt } from "../../../../domain/role/render/prompt.ts";
import type { RoleSpec } from "../../../../domain/role/role-spec.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import { exits } from "../../../shared/exits.ts";
import type { Command, Handler } from "../../command.ts";
import type { PromptFacet } from "../../facets/prompts.ts";
import { errorLine, successLine } from "../../marks.ts";
import { parse } from "../../parse.ts";
import { rolesMeant } from "./roles-meant.ts";

/** Checks the prompts that count in the project against this command line. */
export const testPrompts =
  (tree: Command): Handler =>
  async ({ app, args, io }) => {
    const prompts = await app.prompts();
    const roles = rolesMeant(args);
    const problems = roles.flatMap((role) =>
      problemsOf(prompts, role, parsesBy(tree)).map((problem) => ({ role: role.capability, ...problem })),
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

function problemsOf(prompts: PromptFacet, role: RoleSpec, parses: Parses): readonly PromptProblem[] {
  const rendered = renderPrompt(role, prompts.own(role.capability).text, prompts.terms());
  if (rendered.ok) return checkRolePrompt(role, rendered.value, parses);
  return rendered.refusal.unknown.map((name) => ({
    kind: "placeholder",
    found: `{{${name}}}`,
    why: "it means nothing here, so agents get the text that ships",
  }));
}
