import {
  brokenRuntimeView,
  probedRuntimeView,
  runtimeFindingView,
  runtimeView,
} from "../../../contract/views/runtime.ts";
import { brokenWords } from "../../../domain/agent/runtime-spec.ts";
import { ok } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { Finding, ListedRuntime, ProbedRuntime } from "../../../usecases/runtimes/examine.ts";
import type { KnownLimit } from "../../../usecases/runtimes/limits.ts";
import { exits } from "../../shared/exits.ts";
import { moment } from "../../shared/format.ts";
import type { Call, Handler, Io, Rows } from "../command.ts";
import { texts } from "../given.ts";
import { errorLine, hintLine, successLine, warningLine } from "../marks.ts";
import { table } from "../table.ts";

export const list: Handler = async ({ app, io }) => {
  const listed = await app.call("runtime.list", {});
  if (!listed.ok) return listed;
  const { runtimes, broken } = listed.value;
  const rows: Rows = {
    columns: ["RUNTIME", "CAN", "USED FOR"],
    cells: runtimes.flatMap((runtime) =>
      runtime.drivers.map((driver, at) => [
        at === 0 ? runtime.id : `${runtime.id}:${driver.id}`,
        abilitiesOf(driver, runtime),
        at === 0 ? usedFor(runtime) : "",
      ]),
    ),
    objects: runtimes.map(runtimeView),
  };
  const unusable = broken.map((one) =>
    warningLine(io.paint, visibleLine(`${one.id} cannot be used: ${brokenWords(one)}`)),
  );
  const explained = ["", ...legend.map((line) => io.paint.dim(line))];
  return ok({
    json: { runtimes: runtimes.map(runtimeView), broken: broken.map(brokenRuntimeView) },
    text: [table(rows, io.paint), ...unusable, ...explained].join("\n"),
    rows,
  });
};

/** What the words under CAN mean. */
const legend = [
  "resume  goes on with a conversation      guard   asks before it uses a tool",
  "tools   has the tools of ov              mail    hears mail in a running turn",
  "cost    keeps a limit in dollars itself  prices  the list of prices keeps it",
  "attach  you can open its conversation    see what is here: ov runtimes probe",
];

export const probe: Handler = async (call) => {
  const { app, io } = call;
  const probed = await app.call("runtime.probe", { runtimes: namesOf(call) });
  if (!probed.ok) return probed;
  const rows: Rows = {
    columns: ["RUNTIME", "VERSION", "LOGIN", "PROGRAM"],
    cells: probed.value.map((runtime) => [
      runtime.id,
      versionOf(runtime),
      loginOf(runtime),
      visibleLine(runtime.found?.at ?? runtime.problem ?? "part of ov"),
    ]),
    objects: probed.value.map(probedRuntimeView),
  };
  const limits = probed.value.flatMap(({ id, limit }) => (limit === null ? [] : [`${id}: ${limitWords(limit)}`]));
  return ok({
    json: { runtimes: probed.value.map(probedRuntimeView) },
    text: [table(rows, io.paint), ...(limits.length === 0 ? [] : ["", ...limits.map(visibleLine)])].join("\n"),
    rows,
  });
};

function limitWords({ agent, seenAt, resetAt, lasts, said }: KnownLimit): string {
  const end = resetAt === null ? "" : lasts ? `; over at ${moment(resetAt)}` : `; it was over at ${moment(resetAt)}`;
  return `last limit met by ${agent} at ${moment(seenAt)}${end} (${said})`;
}

export const doctor: Handler = async (call) => {
  const { app, io } = call;
  const report = await app.call("runtime.doctor", { runtimes: namesOf(call) });
  if (!report.ok) return report;
  const { runtimes, findings, dropped } = report.value;
  const bad = findings.filter(({ level }) => level === "bad").length;
  const end =
    bad === 0
      ? successLine(io.paint, "Agents can work with what is here.")
      : errorLine(io.paint, `${bad} ${bad === 1 ? "thing" : "things"} would keep agents from working.`);
  return ok({
    json: {
      healthy: bad === 0,
      runtimes: runtimes.map(probedRuntimeView),
      findings: findings.map(runtimeFindingView),
      dropped,
    },
    text: [...findings.flatMap((finding) => lines(io, finding)), end].join("\n"),
    exit: bad === 0 ? exits.ok : exits.check,
  });
};

const namesOf = ({ args }: Call): readonly string[] => texts(args.runtime) ?? [];

function lines(io: Io, { runtime, check, level, says, next }: Finding): readonly string[] {
  const what = visibleLine(`${runtime === null ? "" : `${runtime} `}${check}: ${says}`);
  const hint = next === null ? [] : [hintLine(io.paint, visibleLine(next))];
  switch (level) {
    case "bad":
      return [errorLine(io.paint, what), ...hint];
    case "warn":
      return [warningLine(io.paint, what), ...hint];
    case "ok":
      return [successLine(io.paint, what), ...hint];
    case "info":
      return [`  ${what}`, ...hint];
  }
}

function abilitiesOf(driver: ListedRuntime["drivers"][number], { guarded }: ListedRuntime): string {
  const words = [
    driver.resume ? "resume" : "",
    guarded ? "guard" : "",
    driver.tools ? "tools" : "",
    driver.steer ? "mail" : "",
    driver.costLimit ? "cost" : driver.tokens === "answer" ? "prices" : "",
    driver.terminal ? "attach" : "",
  ];
  return words.filter((word) => word !== "").join(", ");
}

const usedFor = ({ usedFor: all }: ListedRuntime): string =>
  all.length === 0 ? "" : all.length > 4 ? `${all.length} capabilities` : all.join(", ");

function versionOf({ found, problem }: ProbedRuntime): string {
  if (found === null) return problem === null ? "-" : "none";
  return visibleLine(found.version ?? "unknown");
}

function loginOf({ login, problem, program }: ProbedRuntime): string {
  if (problem !== null || program === null) return "-";
  if (login.kind === "unknown") return "unknown";
  return login.kind === "seen" ? `by ${visibleLine(login.by)}` : login.certain ? "no" : "not seen";
}
