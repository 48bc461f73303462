import { recipes } from "../agent-clis/recipes.ts";
import { checkNames, checks } from "./checks.ts";
import type { KitDriver } from "./driver.ts";
import { drivers } from "./drivers.ts";
import { resultsOf } from "./results.ts";

/** The page about runtimes, from what the last whole run of the kit found out. */
export function renderRuntimesPage(): string {
  return [
    "# Runtimes",
    "",
    "This page is generated from the results of the conformance kit: run `npm run test:real`, then `npm run docs`.",
    "",
    "The kit runs the compiled `ov` with each real agent CLI against the [fake model](fake-model.md). A driver is one way to",
    "talk to a program. `yes` means that the check passed with the version named here; a number points to the reason for which",
    "a check does not apply.",
    "",
    ...table(
      ["Driver", "`--runtime`", "Version", "Passed", "Mail during a turn", "Cost", "End of a limit"],
      drivers.map((driver) => [
        driver.id,
        `\`${driver.runtime}\``,
        resultsOf(driver)?.version ?? "not tried",
        `${resultsOf(driver)?.passed.length ?? 0} of ${checkNames.length}`,
        driver.steers ? "in that turn" : "in the next turn",
        driver.cost(someTokens) === null ? "not told" : "told by the program",
        driver.tellsReset ? "known" : "not told",
      ]),
    ),
    "",
    "## Checks",
    "",
    ...table(
      ["Check", ...drivers.map(({ id }) => id)],
      checkNames.map((name) => [`\`${name}\``, ...drivers.map((driver) => cell(driver, name))]),
    ),
    "",
    ...reasons.map(({ driver, name, reason }, at) => `${at + 1}. ${driver.id}, \`${name}\`: ${reason}`),
    "",
    "## What each check says",
    "",
    ...table(
      ["Check", "Promise"],
      checkNames.map((name) => [`\`${name}\``, checks[name]]),
    ),
    "",
    "## What one must know to drive each program",
    "",
    ...Object.entries(recipes)
      .filter(([cli]) => cli !== "claude-2.1.197")
      .flatMap(([cli, { version, facts }]) => [`### ${cli} ${version}`, "", ...facts.map((fact) => `- ${fact}`), ""]),
  ].join("\n");
}

const someTokens = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 };

const reasons = drivers.flatMap((driver) =>
  checkNames.flatMap((name) => {
    const reason = driver.skips[name];
    return reason === undefined ? [] : [{ driver, name, reason }];
  }),
);

function cell(driver: KitDriver, name: (typeof checkNames)[number]): string {
  const at = reasons.findIndex((one) => one.driver === driver && one.name === name);
  if (at >= 0) return `(${at + 1})`;
  return resultsOf(driver)?.passed.includes(name) === true ? "yes" : "no";
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)];
}
