import { invalid, notFound, type Refusal } from "../../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../../domain/result.ts";
import { replacementOf, shortHash } from "../../../../domain/role/override.ts";
import { renderManifest } from "../../../../domain/role/render/manifest.ts";
import { renderPrompt } from "../../../../domain/role/render/prompt.ts";
import type { RoleSpec } from "../../../../domain/role/role-spec.ts";
import { visibleText } from "../../../../domain/text/visible.ts";
import type { Handler, Outcome } from "../../command.ts";
import type { PromptFacet } from "../../facets/prompts.ts";
import { text } from "../task/given.ts";
import { roleNamed } from "./roles-meant.ts";

export const show: Handler = async ({ app, args, flags }) => {
  if (flags.manifest === true) {
    const manifest = renderManifest();
    return ok({ json: { manifest }, text: JSON.stringify(manifest, null, 2) });
  }
  const prompts = await app.prompts();
  const agent = text(flags.agent);
  if (agent !== undefined) return given(prompts, agent);
  const version = text(flags.kept);
  if (version !== undefined) return kept(prompts, version);
  const role = roleNamed(args);
  if (role === undefined) return no(invalid("role", "must be named, or an agent with --agent"));
  return flags.text === true ? beginning(prompts, role) : prompt(prompts, role);
};

function given(prompts: PromptFacet, agent: string): Result<Outcome, Refusal> {
  const found = prompts.givenTo(agent);
  if (found === undefined) return no(notFound("agent", agent));
  return ok({ json: { agent, hash: prompts.digest(found), text: found }, text: visibleText(found) });
}

function kept(prompts: PromptFacet, version: string): Result<Outcome, Refusal> {
  const found = prompts.kept(version);
  if (found === undefined) return no(invalid("--kept", "was never given to an agent here", { value: version }));
  return ok({ json: { version, text: found }, text: visibleText(found) });
}

function beginning(prompts: PromptFacet, { capability }: RoleSpec): Result<Outcome, Refusal> {
  const { text: builtIn, hash } = prompts.builtIn(capability);
  const made = replacementOf(capability, builtIn, hash);
  return ok({ json: { role: capability, hash, text: made }, text: made });
}

function prompt(prompts: PromptFacet, role: RoleSpec): Result<Outcome, Refusal> {
  const own = prompts.own(role.capability);
  const rendered = renderPrompt(role, own.text, prompts.terms());
  if (!rendered.ok) {
    const value = rendered.refusal.unknown.map((name) => `{{${name}}}`).join(", ");
    return no(invalid("role", "has a text with unknown placeholders, so agents get the one that ships", { value }));
  }
  const hash = prompts.digest(rendered.value);
  return ok({
    json: {
      role: role.capability,
      state: own.state,
      added: own.added,
      version: `${role.capability}@${shortHash(hash)}`,
      hash,
      bytes: new TextEncoder().encode(rendered.value).length,
      text: rendered.value,
    },
    text: visibleText(rendered.value),
  });
}
