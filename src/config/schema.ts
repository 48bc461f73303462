import { agentKeys, runtimeKeys, watchdogKeys } from "./schema/agents.ts";
import { budgetKeys } from "./schema/budgets.ts";
import type { KeySpec } from "./schema/key.ts";
import { mailKeys } from "./schema/mail.ts";
import { mergeKeys } from "./schema/merge.ts";
import { modelKeys } from "./schema/models.ts";
import { notifyKeys } from "./schema/notify.ts";
import { projectKeys } from "./schema/project.ts";

/**
 * Every key there is. Loading, checking, editing, explaining and the type `Config` all come from this table, so a key
 * is added here and nowhere else.
 */
export const table = {
  ...projectKeys,
  ...agentKeys,
  ...budgetKeys,
  ...mailKeys,
  ...mergeKeys,
  ...runtimeKeys,
  ...modelKeys,
  ...notifyKeys,
  ...watchdogKeys,
} satisfies Readonly<Record<string, KeySpec>>;

/** The whole configuration as one frozen value. Hand out slices (`Config["mail"]`), never all of it. */
export type Config = Nested<typeof table>;

type Nested<Keys> = {
  readonly [Head in HeadOf<keyof Keys> as Head extends "*" ? string : Head]: Head extends keyof Keys
    ? ValueOf<Keys[Head], Head>
    : Nested<Below<Keys, Head>>;
};

type HeadOf<Path> = Path extends `${infer Head}.${string}` ? Head : Path extends string ? Path : never;

type Below<Keys, Head extends string> = {
  [Path in keyof Keys as Path extends `${Head}.${infer Rest}` ? Rest : never]: Keys[Path];
};

/** A name that is there has a value; that it may be absent is what the index signature already says. */
type ValueOf<Spec, Head> = Spec extends { readonly default: infer T }
  ? Head extends "*"
    ? Exclude<T, undefined>
    : T
  : never;
