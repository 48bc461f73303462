import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { GuardPolicy } from "../src/domain/guard/policy.ts";
import type { Role } from "../src/domain/role/role-spec.ts";
import { roles } from "../src/domain/role/roles.ts";
import { policyFor, runs } from "./guard.ts";

interface CommandCases {
  readonly may?: readonly string[];
  readonly mayNot?: readonly string[];
  /** Rules that differ from bob's. */
  readonly policy?: Partial<GuardPolicy>;
}

/** One test for each command that a role may run, and for each that it may not. */
export function commandCases(role: Role, { may = [], mayNot = [], policy: more = {} }: CommandCases): void {
  const policy = policyFor(roles[role], more);
  test.each(may.map((command) => [command]))(`a ${role} may run %j`, (command) => {
    expect(runs(policy, command)).toEqual({ decision: "allow" });
  });
  test.each(mayNot.map((command) => [command]))(`a ${role} may not run %j`, (command) => {
    expect(runs(policy, command)).toMatchObject({ decision: "deny" });
  });
}

interface GuardClass {
  readonly name: string;
  readonly cases: readonly { readonly role: Role; readonly decision: "allow" | "deny"; readonly command: string }[];
}

/** Commands by what they try, one file for each class: role, decision, command. In a command \n ends a line. */
export const guardClasses = (): readonly GuardClass[] =>
  readdirSync(classDir)
    .sort()
    .map((file) => ({
      name: file.replace(/\.txt$/, ""),
      cases: readFileSync(join(classDir, file), "utf8").split("\n").flatMap(caseIn),
    }));

const classDir = join(import.meta.dir, "guard-classes");

function caseIn(line: string): GuardClass["cases"] {
  if (line === "" || line.startsWith("#")) return [];
  const [, role = "", decision, command = ""] = /^(\w+) (allow|deny) (.+)$/.exec(line) ?? [];
  if (!Object.hasOwn(roles, role) || decision === undefined) throw new Error(`no case of the guard: ${line}`);
  return [
    {
      role: role as Role,
      decision: decision as "allow" | "deny",
      command: command.replaceAll("\\n", "\n"),
    },
  ];
}
