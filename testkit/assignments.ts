import { type Capability, isIn } from "../src/domain/agent/capability.ts";
import { type Assignment, type ProjectTerms, readAsked } from "../src/domain/role/assignment.ts";

/** What a project with two gates tells everybody. */
export const someTerms: ProjectTerms = {
  gates: [
    { name: "tests", command: "npm test", description: "all tests" },
    { name: "lint", command: "npm run lint" },
  ],
  instructionFile: ".claude/CLAUDE.md",
  maxAgentsPerLead: 5,
  expertise: false,
};

/** An agent of this capability in the middle of an ordinary run. */
export function anAssignment(capability: Capability, facts: Partial<Assignment> = {}): Assignment {
  const persistent = isIn("persistent", capability);
  return {
    agent: {
      name: persistent ? capability : `${capability}-t1`,
      generation: 1,
      capability,
      runId: "run-1",
      taskId: persistent ? null : "t1",
      specPath: null,
      scope: isIn("implementation", capability) ? ["src/dates.ts", "src/dates/**"] : [],
      shares: [],
      worktreePath: persistent ? "/p" : `/p/.overstory/worktrees/${capability}-t1`,
      branch: persistent ? "main" : `overstory/${capability}-t1/t1`,
      baseRef: "main",
      baseCommit: "0123456789abcdef0123456789abcdef01234567",
      parentName: persistent ? "operator" : "lead-a",
      depth: persistent ? 0 : 2,
    },
    parentCapability: persistent ? null : "lead",
    task: persistent ? null : { title: "Parse dates", description: "Read ISO dates.\nRefuse the others." },
    objective: "Ship the calendar",
    criteria: [{ number: 2, text: "dates are parsed" }],
    hasSpec: false,
    specDigest: null,
    asked: readAsked(null),
    siblings: [],
    subject: null,
    isPart: false,
    reviewBefore: null,
    decisions: [],
    readsWhole: false,
    waived: [],
    predecessor: null,
    ...facts,
  };
}
