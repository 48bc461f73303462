import { type StartedHead, startedHeadView } from "../../../contract/views/agent.ts";
import { gateResultView } from "../../../contract/views/gate.ts";
import type { Missing } from "../../../domain/completion/check.ts";
import { adviceLines } from "../../../domain/coordination/advice.ts";
import { setupGate } from "../../../domain/gate/gate.ts";
import { invalid, type Refusal } from "../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../domain/result.ts";
import { shellWord } from "../../../domain/text/shell-word.ts";
import { visibleJson, visibleLine, visibleText } from "../../../domain/text/visible.ts";
import type { TeamRuntimes } from "../../../usecases/project/caller-shell.ts";
import type { SetUpPlan } from "../../../usecases/project/facts.ts";
import { exits } from "../../shared/exits.ts";
import type { Call, Handler, Outcome, Paint } from "../command.ts";
import { text, texts, word } from "../given.ts";
import { wrapLines } from "../layout.ts";
import { hintLine, successLine, warningLine } from "../marks.ts";
import { fileSink } from "../sink.ts";
import type { LeftOutcome } from "../waiting.ts";
import { branchOf, canAsk, nobodyToAsk, objectiveOf, startedOutcome, startHead } from "./coordinator-start.ts";
import { leftCheck, untilAnswered } from "./done.ts";
import { applyTerms, budgetOf, type GoPlan, landingRule, planLines, termsOf } from "./go-terms.ts";

export const go: Handler = async (call) => {
  const { args, io } = call;
  const wanted = await objectiveOf(io, word(args.objective).trim());
  if (!wanted.ok) return wanted;
  const objective = wanted.value.trim();
  if (objective === "") return no(invalid("objective", "must say what is wanted"));
  // Found out before anything is written: a script that forgot --yes leaves no trace.
  if (!io.yes && !canAsk(io)) return no(nobodyToAsk("go"));
  const budget = budgetOf(text(call.flags["budget-usd"]));
  if (!budget.ok) return budget;
  const target = text(call.flags.target);
  const known = target === undefined ? ok({}) : await call.app.call("branch.check", { branch: target });
  if (!known.ok) return known;
  const planned = await call.app.call("project.planSetUp", {});
  if (!planned.ok) return planned;
  const available = await canRun(call, planned.value);
  if (!available.ok) return available;
  if (!io.yes && planned.value !== undefined) {
    const refused = await mayNotSetUp(call, objective, planned.value);
    if (refused !== undefined) return refused;
  }
  const ready = await setUp(call, planned.value);
  if (!ready.ok) return ready;
  const plan = await planFor(call, objective, available.value);
  if (!plan.ok) return plan;
  const width = fileSink(2).columns();
  for (const line of planLines(io.paint, plan.value)) io.say(width === undefined ? line : wrapLines(line, width));
  const checked = call.flags["check-gates"] === false ? undefined : await checkGates(call, plan.value);
  if (checked?.ok === false) return checked;
  const gates = checked?.value ?? notChecked;
  if ("exit" in gates) return ok(gates);
  if (io.yes && !gates.isSafe) return ok(gatesFail(ready.value, gates));
  if (!io.yes) {
    const question = gates.failing.length === 0 ? "Start?" : "Start all the same?";
    const answer = await io.confirm(question);
    if (answer === undefined) return no(nobodyToAsk("go"));
    if (!answer) return ok(cancelled(ready.value));
  }
  const applied = await applyTerms(call, plan.value.terms);
  if (!applied.ok) return applied;
  const started = await startHead(call, {
    capability: "coordinator",
    name: text(call.flags.name),
    objective,
    brief: briefOf(plan.value.target.branch, gates.failing),
    profile: undefined,
    budgetUsd: plan.value.terms.ownBudgetUsd,
    targetBranch: branchOf(plan.value.target),
  });
  if (!started.ok) return started;
  const kept = await keepRuntime(call);
  if (!kept.ok) return kept;
  return ok(outcome(call, plan.value, { ...started.value, initialized: ready.value.initialized, gates }));
};

/** Refused where an agent of the team could not start, before anything is written. */
async function canRun({ app, flags }: Call, plan: SetUpPlan | undefined): Promise<Result<TeamRuntimes, Refusal>> {
  const typed = text(flags.runtime);
  if (plan === undefined) return app.call("runtime.checkTeam", { runtime: typed });
  const runtime = typed ?? plan.runtime;
  const startable = await app.call("runtime.check", { runtime });
  return startable.ok ? ok({ runtime, others: [] }) : startable;
}

/** Asks before the set-up of a repository writes and commits anything; an answer of no leaves no trace. */
async function mayNotSetUp(
  { io, flags }: Call,
  objective: string,
  plan: SetUpPlan,
): Promise<Result<Outcome, Refusal> | undefined> {
  const fact = (name: string, value: string): string => `  ${io.paint.dim(name.padEnd(9))} ${visibleLine(value)}`;
  const budget = text(flags["budget-usd"]);
  io.say(
    "This repository is not set up yet. Setting it up comes first; then you see the whole plan and are asked again.",
  );
  for (const line of [
    fact("objective", objective),
    fact("writes", `.overstory/ and a section of your coding agent's instruction file in ${plan.root}`),
    fact("commits", plan.branch === undefined ? "on no branch: HEAD is detached" : `on ${plan.branch}`),
    fact("target", text(flags.target) ?? plan.branch ?? "the project's branch"),
    fact("runtime", text(flags.runtime) ?? plan.runtime),
    fact(
      "gates",
      [...plan.gates.map(({ command }) => command), ...(texts(flags.gate) ?? [])].join("; ") || "none found",
    ),
    ...(plan.setup === undefined ? [] : [fact("setup", `${plan.setup.command} (${plan.setup.from}), before gates`)]),
    fact("budget", budget === undefined ? "no limit (--budget-usd sets one)" : `$${budget} for this run`),
  ])
    io.say(line);
  const answer = await io.confirm("Set it up?");
  if (answer === undefined) return no(nobodyToAsk("go"));
  return answer ? undefined : ok({ json: { cancelled: true, initialized: false }, text: "Nothing was changed." });
}

const cancelled = ({ initialized }: Ready): Outcome => ({
  json: { cancelled: true, initialized },
  text: initialized ? "Nothing was started. The set-up of this repository stays." : "Nothing was started.",
});

/** The advice was printed with the failing gates. */
const gatesFail = ({ initialized }: Ready, { json, failing }: GateCheck): Outcome => {
  const message = `${failing.map((one) => one.message).join("; ")} on the target itself`;
  return {
    json: { success: false, errorMessage: message, cancelled: true, initialized, gateCheck: json },
    text: "Nothing was started.",
    exit: exits.check,
  };
};

const notChecked: GateCheck = { json: { checked: false }, failing: [], isSafe: true };

interface Ready {
  readonly initialized: boolean;
}

/** The same as `ov init`. In a project that is set up already it changes nothing. */
async function setUp({ app, io, flags }: Call, plan: SetUpPlan | undefined): Promise<Result<Ready, Refusal>> {
  // The user has seen the setup command in the plan, or said `--yes`.
  const setup = plan?.setup?.command;
  const runtime = text(flags.runtime);
  const gatesFollow = (texts(flags.gate) ?? []).length > 0;
  const request = { reset: false, commit: true, instructions: true, setup, runtime, gatesFollow };
  const done = await app.call("project.init", request);
  if (!done.ok) return done;
  const { status, project, created, warnings, committed, committedFiles, committedOn } = done.value;
  const initialized = status === "initialized";
  if (initialized) io.say(successLine(io.paint, "Overstory is set up for", visibleLine(project)));
  if (initialized) io.changed("the set-up of this repository");
  if (initialized && committed) {
    const branch = visibleLine(committedOn ?? "the detached HEAD");
    io.say(
      `It committed the files that it made, and nothing else, on ${branch}: ${committedFiles.map(visibleLine).join(", ")}`,
    );
  }
  for (const warning of warnings) io.warn(visibleLine(warning));
  if (!initialized && created.length > 0) io.say(`Completed the set-up: ${created.map(visibleLine).join(", ")}`);
  return ok({ initialized });
}

/** The team works with what its coordinator works with. Only now is it known that the name is right. */
async function keepRuntime({ app, flags }: Call): Promise<Result<null, Refusal>> {
  const runtime = text(flags.runtime);
  if (runtime === undefined) return ok(null);
  const set = await app.call("config.set", { key: "runtime.default", value: runtime, local: true });
  return set.ok ? ok(null) : set;
}

async function planFor(call: Call, objective: string, team: TeamRuntimes): Promise<Result<GoPlan, Refusal>> {
  const { app, flags } = call;
  await app.call("trust.check", {});
  const terms = await termsOf(app, call);
  if (!terms.ok) return terms;
  const target = await app.call("branch.findTarget", { branch: text(flags.target) });
  if (!target.ok) return target;
  const targetBranch = branchOf(target.value);
  const orders = { capability: "coordinator", name: text(flags.name), objective, environment: {}, targetBranch };
  // Asked before the terms are written: a refused start must not leave other limits behind.
  const startable = await app.call("coordinator.checkStart", { ...orders, runtime: text(flags.runtime) });
  if (!startable.ok) return startable;
  const advised = await app.call("advise.plan", {});
  if (!advised.ok) return advised;
  const { advice } = advised.value;
  const { branch, commit } = target.value;
  const start = commit === undefined ? undefined : await app.call("branch.findStart", { target: branch, runId: null });
  if (start?.ok === false) return start;
  const changes = await app.call("branch.countChanges", {});
  if (!changes.ok) return changes;
  const { changed } = changes.value;
  return ok({ objective, terms: terms.value, advice, target: target.value, start: start?.value, team, changed });
}

interface StartedTeam extends StartedHead {
  readonly initialized: boolean;
  readonly gates: GateCheck;
}

function outcome(call: Call, plan: GoPlan, started: StartedTeam): Outcome {
  const { paint } = call.io;
  const { changes, added: _, baselineFailing: __, promote: ___, ownBudgetUsd: ____, ...limits } = plan.terms;
  const which = started.agentName === "coordinator" ? "" : ` --name ${started.agentName}`;
  const usual = startedOutcome(call, started);
  return {
    ...usual,
    json: {
      ...startedHeadView(started),
      initialized: started.initialized,
      target: plan.target.branch,
      gateCheck: started.gates.json,
      limits,
      configured: [
        ...changes.map(({ key }) => key),
        ...(text(call.flags.runtime) === undefined ? [] : ["runtime.default"]),
      ],
      advice: adviceLines(plan.advice),
    },
    text: [
      successLine(paint, "Started", started.agentName),
      hintLine(paint, `run ${started.runId}`),
      ...allTheSame(paint, plan, { failing: started.gates.failing, stop: `ov coordinator stop${which}` }),
      "Where to watch:",
      ...Object.entries({
        [`ov coordinator output -f${which}`]: "what it says",
        "ov status": "who works on what",
        "ov watch": "the health of the agents",
        "ov inbox": "what needs you",
      }).map(([command, shows]) => hintLine(paint, `${command.padEnd(26 + which.length)}  ${shows}`)),
      `Landing: ${visibleLine(landingRule(plan))}`,
    ].join("\n"),
    wraps: true,
  };
}

/** Said when the team has started although gates fail: how to take that back. */
function allTheSame(
  paint: Paint,
  plan: GoPlan,
  { failing, stop }: { readonly failing: readonly Missing[]; readonly stop: string },
): readonly string[] {
  if (failing.length === 0) return [];
  const names = failing.map(({ gate }) => gate);
  const written = plan.terms.added.filter(({ name }) => names.includes(name)).map(({ command }) => command);
  const out = visibleLine(withoutGates(plan, failing));
  const mend =
    written.length === 0
      ? `without the failing gate: ${out}`
      : `--gate wrote ${written.map(visibleLine).join(", ")} to .overstory/config.local.yaml; take it out: ${out}`;
  return [
    warningLine(paint, `started all the same, although the gates fail on ${visibleLine(plan.target.branch)}`),
    hintLine(paint, `stop it: ${stop}`),
    hintLine(paint, mend),
  ];
}

/** The command that leaves only the other gates. */
function withoutGates({ terms }: GoPlan, failing: readonly Missing[]): string {
  const names = new Set(failing.map(({ gate }) => gate));
  const left = terms.gates.filter(({ name }) => !names.has(name));
  return `ov config set project.qualityGates ${shellWord(visibleJson(JSON.stringify(left)))} --local`;
}

/** The results of the gates on the target, before any agent has changed it. */
interface GateCheck {
  readonly json: Readonly<Record<string, unknown>>;
  readonly failing: readonly Missing[];
  /**
   * A team may start without a question: every gate passes, or landed work stays on a branch of ours until the operator
   * promotes it. Otherwise work would reach the target unproved, or could never land.
   */
  readonly isSafe: boolean;
}

/** Runs every gate on the tip of the target, also gates that were only typed, and names those that fail there. */
async function checkGates({ app, io }: Call, plan: GoPlan): Promise<Result<GateCheck | LeftOutcome, Refusal>> {
  const { gates, added } = plan.terms;
  if (gates.length === 0) return ok({ json: { checked: false }, failing: [], isSafe: true });
  const { branch } = plan.target;
  io.say(`Checking the gates on ${visibleLine(branch)} ... (--no-check-gates starts without this)`);
  const environment = await app.call("environment.captureForGates", {});
  if (!environment.ok) return environment;
  const trial = { trial: added, environment: environment.value };
  const ticket = await app.call("gate.run", { ref: `refs/heads/${branch}`, ...trial });
  if (!ticket.ok) return ticket;
  const answer = await untilAnswered(app, io, ticket.value.id);
  if (!answer.ok) return answer;
  if (answer.value === undefined) return ok(leftCheck(ticket.value.id));
  const { check, results } = answer.value;
  const failing = check.problem;
  const json = { checked: true, branch, passed: failing.length === 0, gates: results.map(gateResultView), failing };
  if (failing.length === 0) {
    io.say(successLine(io.paint, "The gates pass on", visibleLine(branch)));
    return ok({ json, failing, isSafe: true });
  }
  const fate = fateOf(plan, failing);
  const isSafe = fate === "gathers";
  for (const line of failureLines(io.paint, { branch, failing, fate })) io.say(line);
  // A team that starts at once needs no advice about how it could start; what can be done then is said when it has.
  if (!io.yes || !isSafe) for (const line of startAdvice(io.paint, plan, { branch, failing })) io.say(line);
  return ok({ json, failing, isSafe });
}

/**
 * gathers  it lands with the gap named, on a branch of ours that the operator takes over
 * reaches  it lands with the gap named, on the target itself
 * waits    nothing lands until the target passes
 */
type Fate = "gathers" | "reaches" | "waits";

function fateOf({ terms, target }: GoPlan, failing: readonly Missing[]): Fate {
  if (terms.baselineFailing === "block" || failing.some(({ gate }) => gate === setupGate)) return "waits";
  return target.isHere && terms.promote !== "auto" ? "gathers" : "reaches";
}

interface Failed {
  readonly branch: string;
  readonly failing: readonly Missing[];
  readonly fate: Fate;
}

/** Enough lines of the output to see the problem; the log has all of them. */
const shownLines = 8;

function failureLines(paint: Paint, { branch, failing, fate }: Failed): readonly string[] {
  const on = visibleLine(branch);
  const fates = {
    gathers: `work lands unproved by it on overstory/integration/<run>, and ov merge promote warns before ${on} gets it`,
    reaches: `work would land on ${on} itself, unproved by it`,
    waits: `nothing lands until ${on} passes`,
  } as const satisfies Record<Fate, string>;
  return [
    ...failing.flatMap(({ message, logTail, logPath }) => [
      warningLine(paint, `${visibleLine(message)} on ${on} itself, before any agent has changed anything`),
      ...tailOf(logTail).map((line) => `    ${line}`),
      ...(logPath === undefined ? [] : [hintLine(paint, `whole output: ${visibleLine(logPath)}`)]),
    ]),
    hintLine(paint, `what that means: ${fates[fate]}`),
  ];
}

/** What the coordinator is told of gates that fail already: else each of its agents finds it out anew. */
function briefOf(branch: string, failing: readonly Missing[]): string | undefined {
  if (failing.length === 0) return undefined;
  return [
    `On ${branch} as it is, before any work:`,
    ...failing.flatMap(({ message, logTail }) => [`- ${message}`, ...tailOf(logTail).map((line) => `    ${line}`)]),
    "Such a gate proves nothing about what lands. Where the objective does not say whether to mend it, ask the operator.",
  ].join("\n");
}

function startAdvice(paint: Paint, plan: GoPlan, { branch, failing }: Omit<Failed, "fate">): readonly string[] {
  const removed = visibleLine(withoutGates(plan, failing));
  return [
    hintLine(paint, `mend ${visibleLine(branch)}, commit, and type the same again`),
    hintLine(paint, `or use another gate: --gate "<command>", and without the failing one: ${removed}`),
    hintLine(paint, "or go on all the same: --no-check-gates"),
  ];
}

const tailOf = (tail: string | undefined): readonly string[] =>
  tail === undefined || tail.trim() === "" ? [] : visibleText(tail).trimEnd().split("\n").slice(-shownLines);
