import { gateVariables, isForNobody } from "../agent/environment.ts";

/** Tools are found even where nobody says where they are. */
const anyway = { PATH: "/usr/local/bin:/usr/bin:/bin" } as const;

/** No terminal, nobody to ask; `CI` is how test runners are told so. */
const fixed = { TERM: "dumb", CI: "1", OVERSTORY_GATE: "1" } as const;

/** The whole environment of a gate, setup or regenerate command; `told` is what it is told about the change. */
export function gateEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  told: Readonly<Record<string, string>>,
): Record<string, string> {
  const all = { ...anyway, ...gateVariables(env), ...told, ...fixed };
  // Not even when a caller hands them in.
  return Object.fromEntries(Object.entries(all).filter(([name]) => !isForNobody(name)));
}
