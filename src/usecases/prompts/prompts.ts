import { invalid, notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { type OverrideState, replacementOf, shortHash } from "../../domain/role/override.ts";
import { renderPrompt } from "../../domain/role/render/prompt.ts";
import type { Role, RoleSpec } from "../../domain/role/role-spec.ts";
import { roleList, roleOf } from "../../domain/role/roles.ts";
import { fields, list, oneOf, text } from "../../domain/schema/schema.ts";
import { type DiffLine, lineDiff } from "../../domain/text/line-diff.ts";
import type { OwnRoleText, RoleTexts } from "../../ports/instructions.ts";
import type { Effect } from "../operation.ts";

interface OfRole {
  readonly role: Role;
}

const role = oneOf(roleList.map(({ capability }) => capability));

export interface ShownPrompt extends OfRole {
  readonly state: OverrideState;
  readonly added: boolean;
  readonly version: string;
  readonly hash: string;
  readonly bytes: number;
  readonly text: string;
}

/** The prompt of a role, as every agent of it is told it here. */
export const show: Effect<OfRole, ShownPrompt> = {
  kind: "effect",
  request: fields({ role }),
  place: "caller",
  run: async (world, { role }) => {
    const texts = await world.roleTexts();
    const { state, added, text } = texts.own(role);
    const rendered = rendering(texts, roleOf(role), text);
    if (!rendered.ok) {
      const value = rendered.refusal.map((name) => `{{${name}}}`).join(", ");
      return no(invalid("role", "has a text with unknown placeholders, so agents get the one that ships", { value }));
    }
    const hash = texts.digest(rendered.value);
    const bytes = new TextEncoder().encode(rendered.value).length;
    return ok({ role, state, added, version: `${role}@${shortHash(hash)}`, hash, bytes, text: rendered.value });
  },
};

/** Renders prompts; the names of unknown placeholders where one of them has any. */
export const render: Effect<
  { readonly roles: readonly Role[] },
  readonly (OfRole & { readonly text: string; readonly unknown: readonly string[] })[]
> = {
  kind: "effect",
  request: fields({ roles: list(role) }),
  place: "caller",
  run: async (world, { roles }) => {
    const texts = await world.roleTexts();
    return ok(
      roles.map((role) => {
        const rendered = rendering(texts, roleOf(role), texts.own(role).text);
        return rendered.ok
          ? { role, text: rendered.value, unknown: [] }
          : { role, text: "", unknown: rendered.refusal };
      }),
    );
  },
};

export interface ComparedPrompt extends OwnRoleText {
  readonly lines: readonly DiffLine[];
}

/** Compares the project's own texts of these roles with those that ship. Roles without such a text are left out. */
export const compare: Effect<{ readonly roles: readonly Role[] }, readonly ComparedPrompt[]> = {
  kind: "effect",
  request: fields({ roles: list(role) }),
  place: "caller",
  run: async (world, { roles }) => {
    const texts = await world.roleTexts();
    const touched = roles.map(texts.own).filter(({ state, added }) => state !== "built-in" || added);
    return ok(touched.map((own) => ({ ...own, lines: lineDiff(texts.builtIn(own.role).text, own.text) })));
  },
};

/** The text that ships, as the beginning of one of the project's own. */
export const begin: Effect<OfRole, OfRole & { readonly hash: string; readonly text: string }> = {
  kind: "effect",
  request: fields({ role }),
  place: "caller",
  run: async (world, { role }) => {
    const { text, hash } = (await world.roleTexts()).builtIn(role);
    return ok({ role, hash, text: replacementOf(role, text, hash) });
  },
};

/** The whole instructions that an agent was last given. */
export const showGiven: Effect<
  { readonly agent: string },
  { readonly agent: string; readonly hash: string; readonly text: string }
> = {
  kind: "effect",
  request: fields({ agent: text }),
  place: "caller",
  run: async (world, { agent }) => {
    const texts = await world.roleTexts();
    const text = texts.givenTo(agent);
    return text === undefined ? no(notFound("agent", agent)) : ok({ agent, hash: texts.digest(text), text });
  },
};

/** A prompt that agents were once given, by its version. */
export const showKept: Effect<{ readonly version: string }, { readonly version: string; readonly text: string }> = {
  kind: "effect",
  request: fields({ version: text }),
  place: "caller",
  run: async (world, { version }) => {
    const text = (await world.roleTexts()).kept(version);
    if (text !== undefined) return ok({ version, text });
    return no<Refusal>(invalid("--kept", "was never given to an agent here", { value: version }));
  },
};

/** Refused with the names of unknown placeholders. */
function rendering({ terms }: RoleTexts, role: RoleSpec, text: string): Result<string, readonly string[]> {
  const rendered = renderPrompt(role, text, terms);
  return rendered.ok ? rendered : no(rendered.refusal.unknown);
}
