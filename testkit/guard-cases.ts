import { expect, test } from "bun:test";
import type { GuardPolicy } from "../src/domain/guard/policy.ts";
import type { Role } from "../src/domain/role/role-spec.ts";
import { roles } from "../src/domain/role/roles.ts";
import { policyFor, runs } from "./guard.ts";

interface CommandCases {
  readonly may?: readonly string[];
  readonly mayNot?: readonly string[];
  /** Other than what is true for bob. */
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
