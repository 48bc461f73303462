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
  { about: ["mail.wake", "runtime.capabilities"], check: namesMeanSomething },
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
function namesMeanSomething({ mail, runtime }: Config): readonly Finding[] {
  const found: Finding[] = [];
  const expectName = (section: string, name: string, known: readonly string[], noun: string, whole = name) => {
    if (known.includes(name)) return;
    const close = nearest(name, known);
    const hint = close === undefined ? {} : { nearest: close };
    found.push({ key: `${section}.${whole}`, message: `has no effect: ${name} is no ${noun}`, mild: true, ...hint });
  };
  for (const name of Object.keys(runtime.capabilities))
    expectName("runtime.capabilities", name, capabilities, "capability");
  for (const name of Object.keys(mail.wake)) {
    const at = name.indexOf("@");
    expectName("mail.wake", at < 0 ? name : name.slice(0, at), mailTypes, "mail type", name);
    if (at >= 0) expectName("mail.wake", name.slice(at + 1), capabilities, "capability", name);
  }
  return found;
}

/** Results, logs and receipts speak of a gate by its name. */
function gatesHaveNames({ project }: Config): readonly Finding[] {
  const names = project.qualityGates.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  return twice === undefined
    ? []
    : [{ key: "project.qualityGates", message: `has two gates that are called ${twice}` }];
}
