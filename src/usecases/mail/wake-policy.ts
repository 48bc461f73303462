import { capabilities, isCapability } from "../../domain/agent/capability.ts";
import { isMailType, type MailType } from "../../domain/mail/types.ts";
import { defaultWakePolicy, type WakePolicy } from "../../domain/mail/wake.ts";
import type { Settings } from "../../ports/settings.ts";

/**
 * What wakes whom in this project: the default, overlaid by `mail.wake`, whose keys are a type (`status`) or a type for
 * one capability (`status@lead`). The narrower key wins. Keys that name neither are the business of the config check.
 */
export function wakePolicyOf({ mail }: Settings): WakePolicy {
  const policy: Record<MailType, WakePolicy[MailType]> = { ...defaultWakePolicy };
  const keys = Object.keys(mail.wake).toSorted((a, b) => Number(a.includes("@")) - Number(b.includes("@")));
  for (const key of keys) {
    const [type = "", capability] = key.split("@");
    const wakes = mail.wake[key] === true;
    if (!isMailType(type)) continue;
    if (capability === undefined) policy[type] = wakes;
    else if (isCapability(capability)) {
      const rule = policy[type];
      const before = typeof rule === "boolean" ? (rule ? capabilities : []) : rule;
      const others = before.filter((known) => known !== capability);
      policy[type] = wakes ? [...others, capability] : others;
    }
  }
  return policy;
}
