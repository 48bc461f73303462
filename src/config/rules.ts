import { capabilities } from "../domain/agent/capability.ts";
import { mailTypes } from "../domain/mail/types.ts";
import { nearest } from "../domain/name/nearest.ts";
import type { Config } from "./schema.ts";

/** What a rule found. `message` completes the sentence "`<key>` ...". */
export interface Finding {
  readonly key: string;
  readonly message: string;
  /** Keys whose place in a file explains the finding when `key` itself is written nowhere. */
  readonly because?: readonly string[];
  readonly nearest?: string;
  /** The configuration works all the same. */
  readonly mild?: boolean;
}

/** A rule about several keys at once. It is skipped while one of them has no usable value. */
export interface Rule {
  readonly about: readonly string[];
  readonly check: (config: Config) => readonly Finding[];
}

export const rules: readonly Rule[] = [
  { about: ["project.qualityGates"], check: gatesHaveNames },
  { about: ["watchdog.tier0IntervalMs", "watchdog.tier0Enabled"], check: intervalRuns },
  { about: ["watchdog.zombieThresholdMs", "watchdog.staleThresholdMs"], check: zombieAfterStale },
  { about: ["watchdog.triageTimeoutMs", "watchdog.tier0IntervalMs", "watchdog.tier1Enabled"], check: triageFits },
  { about: ["providers"], check: gatewaysAreComplete },
  { about: ["models", "providers", "runtime.default", "runtime.capabilities"], check: modelsAreKnown },
  { about: ["mail.wake", "models", "runtime.capabilities"], check: namesMeanSomething },
  { about: ["runtime.shellInitDelayMs"], check: delayIsShort },
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

/** Equal is fine: the shipped values are equal, and switching tier 1 on must be enough. */
function triageFits({ watchdog }: Config): readonly Finding[] {
  const { tier1Enabled, tier0IntervalMs: interval, triageTimeoutMs: triage } = watchdog;
  if (!tier1Enabled || triage <= interval) return [];
  const message = `must be at most watchdog.tier0IntervalMs (${interval}) while watchdog.tier1Enabled is true, but is ${triage}`;
  return [{ key: "watchdog.triageTimeoutMs", message, because: ["watchdog.tier0IntervalMs", "watchdog.tier1Enabled"] }];
}

function gatewaysAreComplete({ providers }: Config): readonly Finding[] {
  return Object.entries(providers).flatMap(([name, provider]) => {
    if (provider.type !== "gateway") return [];
    const missing = (["baseUrl", "authTokenEnv"] as const).filter((field) => provider[field] === undefined);
    return missing.map((field) => ({
      key: `providers.${name}.${field}`,
      message: "is missing: a gateway needs baseUrl and authTokenEnv",
      because: [`providers.${name}.type`],
    }));
  });
}

const aliases = ["sonnet", "opus", "haiku"];

/** Only Claude is reached through our providers; every other runtime knows its own model names. */
function modelsAreKnown({ models, providers, runtime }: Config): readonly Finding[] {
  return Object.entries(models).flatMap(([capability, model]): readonly Finding[] => {
    if ((runtime.capabilities[capability] ?? runtime.default) !== "claude" || aliases.includes(model)) return [];
    const key = `models.${capability}`;
    const slash = model.indexOf("/");
    const provider = model.slice(0, Math.max(slash, 0));
    const close = slash < 0 ? nearest(model, aliases) : nearest(provider, Object.keys(providers));
    const hint = close === undefined ? {} : { nearest: close };
    if (slash < 0)
      return close === undefined
        ? []
        : [{ key, message: `looks like a mistyped alias: ${model}`, mild: true, ...hint }];
    if (Object.hasOwn(providers, provider)) return [];
    return [{ key, message: `names the provider ${provider}, which is not in providers`, ...hint }];
  });
}

/** Names are free as far as the table knows, so a mistyped one would otherwise just have no effect. */
function namesMeanSomething({ mail, models, runtime }: Config): readonly Finding[] {
  const found: Finding[] = [];
  const expectName = (section: string, name: string, known: readonly string[], noun: string, whole = name) => {
    if (known.includes(name)) return;
    const close = nearest(name, known);
    const hint = close === undefined ? {} : { nearest: close };
    found.push({ key: `${section}.${whole}`, message: `has no effect: ${name} is no ${noun}`, mild: true, ...hint });
  };
  for (const name of Object.keys(models)) expectName("models", name, capabilities, "capability");
  for (const name of Object.keys(runtime.capabilities))
    expectName("runtime.capabilities", name, capabilities, "capability");
  for (const name of Object.keys(mail.wake)) {
    const at = name.indexOf("@");
    expectName("mail.wake", at < 0 ? name : name.slice(0, at), mailTypes, "mail type", name);
    if (at >= 0) expectName("mail.wake", name.slice(at + 1), capabilities, "capability", name);
  }
  return found;
}

function delayIsShort({ runtime }: Config): readonly Finding[] {
  if (runtime.shellInitDelayMs <= 30_000) return [];
  return [
    { key: "runtime.shellInitDelayMs", message: "delays every terminal session by more than 30 seconds", mild: true },
  ];
}

/** Results, logs and receipts speak of a gate by its name. */
function gatesHaveNames({ project }: Config): readonly Finding[] {
  const names = project.qualityGates.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  return twice === undefined
    ? []
    : [{ key: "project.qualityGates", message: `has two gates that are called ${twice}` }];
}
