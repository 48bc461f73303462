import { capabilities } from "../domain/agent/capability.ts";
import { mailTypes } from "../domain/mail/types.ts";
import { nearest } from "../domain/name/nearest.ts";
import type { Setting } from "./collect.ts";
import { deepFreeze } from "./compiled.ts";
import { knownKeys } from "./keys.ts";
import type { ConfigProblem, Findings, Origin } from "./problem.ts";
import type { Config } from "./schema.ts";

/** Where each key that is set somewhere got its value, by dotted path. */
export type Origins = Readonly<Record<string, Origin>>;

export interface Assembled {
  readonly config: Config;
  readonly origins: Origins;
}

/** Defaults with the settings laid over them, later ones winning; then the rules about several keys. */
export function assemble(settings: readonly Setting[], projectName: string, findings: Findings): Assembled {
  const winners = new Map(settings.map((setting) => [setting.path.join("."), setting]));
  const draft: Draft = {};
  layDefaults(draft, [...winners.values()]);
  assign(draft, ["project", "name"], projectName);
  for (const { path, known, value } of winners.values()) {
    if (value === undefined && known.parts.at(-1) === "*") remove(draft, path);
    else assign(draft, path, value);
  }
  const origins = Object.fromEntries([...winners].map(([key, setting]) => [key, setting.origin]));
  const config = frozen(draft);
  applyRules(config, origins, findings);
  return { config, origins: Object.freeze(origins) };
}

type Draft = { [name: string]: unknown };

/** `Config` is computed from the table that this draft was filled from; the schema test compares the two. */
function frozen(draft: Draft): Config {
  return deepFreeze(structuredClone(draft)) as Config;
}

function layDefaults(draft: Draft, settings: readonly Setting[]): void {
  for (const { parts, spec } of knownKeys) {
    const star = parts.indexOf("*");
    if (star < 0) {
      assign(draft, parts, spec.default);
      continue;
    }
    const holder = parts.slice(0, star);
    const held = open(draft, holder);
    for (const name of namesUnder(holder.join("."), settings)) {
      const value = spec.entries?.[name] ?? spec.default;
      if (star < parts.length - 1) assign(held, [name, ...parts.slice(star + 1)], value);
      else if (value !== undefined) held[name] = value;
    }
  }
}

/** Names in use below a section whose names are free: those that exist by default and those that were written. */
function namesUnder(holder: string, settings: readonly Setting[]): ReadonlySet<string> {
  const names = new Set<string>();
  const star = holder.split(".").length;
  for (const { pattern, spec } of knownKeys) {
    if (pattern.startsWith(`${holder}.*`)) for (const name of Object.keys(spec.entries ?? {})) names.add(name);
  }
  for (const { known, path } of settings) {
    const name = path[star];
    if (known.pattern.startsWith(`${holder}.*`) && name !== undefined) names.add(name);
  }
  return names;
}

function assign(draft: Draft, path: readonly string[], value: unknown): void {
  const last = path.at(-1);
  if (last !== undefined) open(draft, path.slice(0, -1))[last] = value;
}

function remove(draft: Draft, path: readonly string[]): void {
  const last = path.at(-1);
  if (last !== undefined) delete open(draft, path.slice(0, -1))[last];
}

function open(draft: Draft, path: readonly string[]): Draft {
  let here = draft;
  for (const part of path) {
    const next = Object.hasOwn(here, part) ? here[part] : undefined;
    if (isDraft(next)) here = next;
    else {
      const made: Draft = {};
      here[part] = made;
      here = made;
    }
  }
  return here;
}

const isDraft = (value: unknown): value is Draft =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function applyRules(config: Config, origins: Origins, findings: Findings): void {
  const broken = findings.problems.map((problem) => problem.key);
  for (const rule of rules) {
    if (rule.about.some((key) => broken.some((bad) => bad === key || bad.startsWith(`${key}.`)))) continue;
    for (const finding of rule.check(config)) {
      (finding.mild ? findings.warnings : findings.problems).push(located(finding, origins));
    }
  }
}

/** A broken rule is reported at the first of its keys that a file or a variable sets. */
function located({ key, message, because = [], nearest }: Finding, origins: Origins): ConfigProblem {
  const origin = [key, ...because].map((name) => origins[name]).find((found) => found !== undefined);
  const { file, line, column } = origin ?? { file: "", line: 0, column: 0 };
  return nearest === undefined ? { file, line, column, key, message } : { file, line, column, key, message, nearest };
}

/** What a rule found. `message` completes the sentence "`<key>` ...". */
interface Finding {
  readonly key: string;
  readonly message: string;
  /** Keys whose place in a file explains the finding when `key` itself is written nowhere. */
  readonly because?: readonly string[];
  readonly nearest?: string;
  /** The configuration works all the same. */
  readonly mild?: boolean;
}

/** A rule about several keys at once. It is skipped while one of them has no usable value. */
interface Rule {
  readonly about: readonly string[];
  readonly check: (config: Config) => readonly Finding[];
}

const rules: readonly Rule[] = [
  { about: ["project.qualityGates"], check: gatesHaveNames },
  { about: ["watchdog.tier0IntervalMs", "watchdog.tier0Enabled"], check: intervalRuns },
  { about: ["watchdog.zombieThresholdMs", "watchdog.staleThresholdMs"], check: zombieAfterStale },
  { about: ["mail.wake", "runtime.capabilities", "models"], check: namesMeanSomething },
  { about: ["providers"], check: gatewaysAreComplete },
];

function intervalRuns({ watchdog }: Config): readonly Finding[] {
  if (!watchdog.tier0Enabled || watchdog.tier0IntervalMs > 0) return [];
  return [{ key: "watchdog.tier0IntervalMs", message: "must be above 0 while watchdog.tier0Enabled is true" }];
}

function zombieAfterStale({ watchdog }: Config): readonly Finding[] {
  const { staleThresholdMs: stale, zombieThresholdMs: zombie } = watchdog;
  if (zombie > stale) return [];
  const message = `must be above watchdog.staleThresholdMs (${stale}), but is ${zombie}`;
  return [{ key: "watchdog.zombieThresholdMs", message, because: ["watchdog.staleThresholdMs"] }];
}

/** Names are free as far as the table knows, so a mistyped one would otherwise just have no effect. */
function namesMeanSomething({ mail, runtime, models }: Config): readonly Finding[] {
  const found: Finding[] = [];
  const expectName = (section: string, name: string, known: readonly string[], noun: string, whole = name) => {
    if (known.includes(name)) return;
    const close = nearest(name, known);
    const hint = close === undefined ? {} : { nearest: close };
    found.push({ key: `${section}.${whole}`, message: `has no effect: ${name} is no ${noun}`, mild: true, ...hint });
  };
  for (const name of Object.keys(runtime.capabilities))
    expectName("runtime.capabilities", name, capabilities, "capability");
  for (const name of Object.keys(models)) expectName("models", name, capabilities, "capability");
  for (const name of Object.keys(mail.wake)) {
    const at = name.indexOf("@");
    expectName("mail.wake", at < 0 ? name : name.slice(0, at), mailTypes, "mail type", name);
    if (at >= 0) expectName("mail.wake", name.slice(at + 1), capabilities, "capability", name);
  }
  return found;
}

function gatewaysAreComplete({ providers }: Config): readonly Finding[] {
  return Object.entries(providers).flatMap(([name, { type, ...terms }]): readonly Finding[] => {
    const keys = ["baseUrl", "authTokenEnv"] as const;
    if (type !== "gateway") {
      const set = keys.find((key) => terms[key] !== undefined);
      const message = `has no effect while providers.${name}.type is not gateway: ov config set providers.${name}.type gateway`;
      return set === undefined ? [] : [{ key: `providers.${name}.${set}`, message, mild: true }];
    }
    return keys
      .filter((key) => terms[key] === undefined)
      .map((key) => {
        const because = [`providers.${name}.type`];
        return { key: `providers.${name}.${key}`, message: "must be set for a gateway", because };
      });
  });
}

/** Results, logs and receipts speak of a gate by its name. */
function gatesHaveNames({ project }: Config): readonly Finding[] {
  const names = project.qualityGates.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  return twice === undefined
    ? []
    : [{ key: "project.qualityGates", message: `has two gates that are called ${twice}` }];
}
