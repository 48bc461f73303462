import { useMemo } from "react";
import { useAct, useWhyNot } from "../../api/actions.ts";
import type { Radar } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { useUrl } from "../../state/url.ts";
import { count } from "../../state/words.ts";
import { Button } from "../../ui/controls.tsx";
import { type Look, LookMark } from "../../ui/look.tsx";
import { confirm } from "../../ui/overlays.tsx";
import { Empty, Shown } from "../../ui/states.tsx";
import { Middle } from "../../ui/text.tsx";
import css from "./radar-map.module.css";

type Pair = Radar["pairs"][number];
type Outcome = Pair["outcome"];
type Branch = Radar["branches"][number];

const looks: Readonly<Record<Outcome, Look>> = {
  conflict: { glyph: "conflict", tone: "bad", word: "conflict" },
  structured: { glyph: "merging", tone: "idle", word: "settled by rule" },
  unknown: { glyph: "no_signal", tone: "idle", word: "not compared" },
  clean: { glyph: "completed", tone: "done", word: "clean" },
};
const ranks: readonly Outcome[] = ["conflict", "structured", "unknown", "clean"];

/** More branches than these make cells that no finger finds; then those without any meeting are left out. */
const mostInMap = 30;

/** Which live branches would collide, as a map and as a list. */
export default function RadarMap() {
  const query = useResource({ path: "/api/merge/radar", refreshedBy: "queue" });
  return (
    <Shown what="the radar" query={query}>
      {(radar) =>
        radar.branches.filter(({ agentName }) => agentName !== null).length === 0 ? (
          <Empty why="No agent has work on a branch that has not landed." command="ov merge radar" />
        ) : (
          <Both radar={radar} onLook={() => void query.refetch()} isLooking={query.isFetching} />
        )
      }
    </Shown>
  );
}

function Both({ radar, onLook, isLooking }: { radar: Radar; onLook: () => void; isLooking: boolean }) {
  const { search, set } = useUrl();
  const pairs = useMemo(
    () => radar.pairs.toSorted((a, b) => ranks.indexOf(a.outcome) - ranks.indexOf(b.outcome)),
    [radar],
  );
  const chosen = pairs.find((pair) => keyOf(pair) === search.pair);
  const counts = ranks.map((outcome) => ({ outcome, many: pairs.filter((pair) => pair.outcome === outcome).length }));
  const meeting = pairs.filter(({ outcome }) => outcome !== "clean");
  const shown = chosen === undefined ? meeting : [chosen];
  return (
    <div className={css.radar}>
      <div className={css.legend}>
        {counts.map(({ outcome, many }) => (
          <span key={outcome} className={css.key}>
            <span className={css.sample} data-outcome={outcome} aria-hidden />
            {many} {looks[outcome].word}
          </span>
        ))}
        <Button look="quiet" whyNot={isLooking ? "Looking" : undefined} onClick={onLook}>
          Look again
        </Button>
      </div>
      <Triangle radar={radar} chosen={search.pair} onChoose={(pair) => set({ pair })} />
      <section className={css.list}>
        <header>
          <h2>{chosen === undefined ? `${count(meeting.length, "pair")} that meet` : "The chosen pair"}</h2>
          {chosen === undefined ? null : (
            <Button look="quiet" onClick={() => set({ pair: undefined })}>
              Show all
            </Button>
          )}
        </header>
        {shown.length === 0 ? <Empty why="No two branches change the same part of a file." /> : null}
        <ul>
          {shown.map((pair) => (
            <PairLine key={keyOf(pair)} pair={pair} branches={radar.branches} />
          ))}
        </ul>
      </section>
    </div>
  );
}

const keyOf = ({ a, b }: Pick<Pair, "a" | "b">): string => `${a}..${b}`;
const ownerOf = ({ agentName, branch }: Branch): string => agentName ?? branch;

/** A cell for each two branches. Pattern, sign and number tell them apart, not the colour. */
function Triangle({
  radar,
  chosen,
  onChoose,
}: {
  radar: Radar;
  chosen: string | undefined;
  onChoose: (pair: string) => void;
}) {
  const known = new Map(
    radar.pairs.flatMap((pair) => [[keyOf(pair), pair] as const, [`${pair.b}..${pair.a}`, pair] as const]),
  );
  const meets = (branch: string): boolean =>
    radar.pairs.some(({ a, b, outcome }) => outcome !== "clean" && (a === branch || b === branch));
  const isLarge = radar.branches.length > mostInMap;
  const branches = isLarge ? radar.branches.filter(({ branch }) => meets(branch)).slice(0, mostInMap) : radar.branches;
  return (
    <div className={css.map}>
      <table>
        <caption className="visually-hidden">Which branches would collide; the list below says the same</caption>
        <thead>
          <tr>
            <th scope="col">Branch</th>
            {branches.slice(0, -1).map(({ branch }, at) => (
              <th key={branch} scope="col" title={branch}>
                {at + 1}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {branches.map((row, at) => (
            <tr key={row.branch}>
              <th scope="row" title={row.branch}>
                <span className={css.owner}>
                  <span className="figure">{at + 1}</span>{" "}
                  <Middle text={row.agentName ?? `${row.branch} (lands here)`} tail={20} />
                </span>
              </th>
              {branches.slice(0, at).map((column) => {
                const pair = known.get(`${row.branch}..${column.branch}`);
                return (
                  <td key={column.branch}>
                    {pair === undefined ? null : (
                      <button
                        type="button"
                        className={css.cell}
                        data-outcome={pair.outcome}
                        aria-pressed={keyOf(pair) === chosen}
                        aria-label={`${ownerOf(row)} and ${ownerOf(column)}: ${looks[pair.outcome].word}, ${count(pair.files.length, "file")}`}
                        onClick={() => onChoose(keyOf(pair))}
                      >
                        {pair.outcome === "clean" ? "" : pair.outcome === "unknown" ? "?" : pair.files.length}
                      </button>
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {isLarge ? <p className={css.faint}>Branches that meet no other are left out.</p> : null}
    </div>
  );
}

/** Why a pair that meets names no file. */
const noFiles: Readonly<Record<Outcome, string>> = {
  conflict: "no history in common",
  structured: "",
  unknown: "git has not compared these two commits yet",
  clean: "they change different places",
};

function PairLine({ pair, branches }: { pair: Pair; branches: readonly Branch[] }) {
  const ends = [pair.a, pair.b].flatMap((name) => branches.find(({ branch }) => branch === name) ?? []);
  const owners = ends.flatMap(({ agentName }) => agentName ?? []);
  return (
    <li data-tone={pair.outcome === "conflict" ? "bad" : undefined}>
      <LookMark look={looks[pair.outcome]} />
      <span className={css.ends}>
        {ends.map((end) => (
          <span key={end.branch} title={end.branch}>
            <Middle text={end.branch} tail={18} />
          </span>
        ))}
      </span>
      <span className={css.files}>
        {pair.files.length > 0 ? pair.files.map((file) => <code key={file}>{file}</code>) : noFiles[pair.outcome]}
      </span>
      <MailOwners pair={pair} owners={owners} />
    </li>
  );
}

/** Writes to those whose work meets. */
function MailOwners({ pair: { a, b, files }, owners }: { pair: Pair; owners: readonly string[] }) {
  const act = useAct();
  const whyNot = useWhyNot();
  if (owners.length === 0) return <span />;
  const names = owners.join(" and ");
  const subject = `${a} and ${b} change the same files`;
  const write = (): void =>
    confirm({
      title: `Mail ${names}?`,
      effects: [`Each gets the message as mail from you: ${subject}.`],
      words: {
        label: "Message",
        initial: `Your branches ${a} and ${b} both change ${files.join(", ")}. Agree by mail who changes what; the later one merges the earlier.`,
      },
      verb: `Mail ${names}`,
      danger: false,
      run: (body) => {
        for (const to of owners)
          void act({
            what: `mail ${to}`,
            method: "POST",
            path: "/api/mail",
            body: { to, subject, body },
            done: `Message sent to ${to}.`,
          });
      },
    });
  return (
    <Button whyNot={whyNot} onClick={write}>
      {owners.length === 1 ? `Mail ${names}` : "Mail both"}
    </Button>
  );
}
