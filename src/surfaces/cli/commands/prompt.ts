import { comparedPromptView, promptView } from "../../../contract/views/project.ts";
import { type Capability, isCapability } from "../../../domain/agent/capability.ts";
import { invalid } from "../../../domain/refusal.ts";
import { no, ok } from "../../../domain/result.ts";
import { checkRolePrompt, type Parses, type PromptProblem } from "../../../domain/role/check-prompt.ts";
import type { OverrideState } from "../../../domain/role/override.ts";
import { renderManifest } from "../../../domain/role/render/manifest.ts";
import type { RoleSpec } from "../../../domain/role/role-spec.ts";
import { roleList, roleOf } from "../../../domain/role/roles.ts";
import { changesOnly, type DiffLine } from "../../../domain/text/line-diff.ts";
import { visibleLine, visibleText } from "../../../domain/text/visible.ts";
import type { ComparedPrompt } from "../../../usecases/prompts/prompts.ts";
import { exits } from "../../shared/exits.ts";
import type { App } from "../app.ts";
import type { Call, Command, Handler, Paint } from "../command.ts";
import { text } from "../given.ts";
import { errorLine, successLine } from "../marks.ts";
import { parse } from "../parse.ts";

export const show: Handler = async ({ app, args, flags }) => {
  if (flags.manifest === true) {
    const manifest = renderManifest();
    return ok({ json: { manifest }, text: JSON.stringify(manifest, null, 2) });
  }
  const found = await wanted(app, args, flags);
  if (!found.ok) return found;
  // A text that is to be saved as a file is printed byte by byte.
  const isWhole = "role" in found.value && !("version" in found.value);
  return ok({ json: promptView(found.value), text: isWhole ? found.value.text : visibleText(found.value.text) });
};

async function wanted(app: App, args: Call["args"], flags: Call["flags"]) {
  const agent = text(flags.agent);
  if (agent !== undefined) return app.call("prompt.showGiven", { agent });
  const version = text(flags.kept);
  if (version !== undefined) return app.call("prompt.showKept", { version });
  const role = roleNamed(args)?.capability;
  if (role === undefined) return no(invalid("role", "must be named, or an agent with --agent"));
  return flags.text === true ? app.call("prompt.begin", { role }) : app.call("prompt.show", { role });
}

export const diff: Handler = async ({ app, args, io }) => {
  const found = await app.call("prompt.compare", { roles: rolesMeant(args).map(({ capability }) => capability) });
  if (!found.ok) return found;
  const compared = found.value;
  return ok({
    json: { roles: compared.map(comparedPromptView) },
    text:
      compared.length === 0
        ? "No text of the project's own: agents are told what ships."
        : compared.map((one) => section(io.paint, one)).join("\n\n"),
  });
};

function section(paint: Paint, { role, state, added, files, lines }: ComparedPrompt): string {
  const about = [
    ...(state === "built-in" ? [] : [`${files.replacement}: ${meaning[state]}`]),
    ...(added ? [`${files.addition}: added to it`] : []),
  ];
  const changes = changesOnly(lines).map((line) => (line === undefined ? paint.dim("  ...") : coloured(paint, line)));
  const none = [paint.dim("  no difference to the text that ships")];
  return [paint.accent(role), ...about.map((line) => `  ${line}`), ...(changes.length === 0 ? none : changes)].join(
    "\n",
  );
}

const meaning: Readonly<Record<Exclude<OverrideState, "built-in">, string>> = {
  replaced: "counts instead of the text that ships",
  outdated: "counts, but the text that ships has changed since it was made",
  ignored: "does not count, for its first line does not say what it replaces; see ov prompt show --text",
};

function coloured(paint: Paint, { mark, text }: DiffLine): string {
  const line = visibleLine(`${mark} ${text}`);
  if (mark === "+") return paint.green(line);
  return mark === "-" ? paint.red(line) : line;
}

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

/** The role named as an argument; the parser has let only known ones through. */
function roleNamed(args: Call["args"]): RoleSpec | undefined {
  const typed = args.role;
  return typeof typed === "string" && isCapability(typed) ? roleOf(typed satisfies Capability) : undefined;
}

/** The role named, or all of them. */
function rolesMeant(args: Call["args"]): readonly RoleSpec[] {
  const named = roleNamed(args);
  return named === undefined ? roleList : [named];
}
