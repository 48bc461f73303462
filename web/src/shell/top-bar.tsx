import { ChevronDown, Menu as MenuIcon } from "lucide-react";
import { useAttention, useMe } from "../api/resources.ts";
import { type Burn, type RunSummary, useRunSummary } from "../api/run-summary.ts";
import { connection, useConnection, useFrozen } from "../live/resource.ts";
import { useNow } from "../state/clock.ts";
import { changeSettings, useSettings } from "../state/settings.ts";
import { clockTime, money, shortCommit, span } from "../state/words.ts";
import { Button, Keys, Tip } from "../ui/controls.tsx";
import { Glyph, type Tone } from "../ui/glyph.tsx";
import { Middle } from "../ui/text.tsx";
import { VerdictMark } from "../ui/verdict.tsx";
import { attentionLook } from "./attention-look.ts";
import { openPanel } from "./panels.ts";
import css from "./top-bar.module.css";

/** One sentence: which run, is its target healthy, does it need me, what does it cost, is this true now. */
export function TopBar() {
  const { railNarrow } = useSettings();
  const { data: me } = useMe();
  const { run, target, burn } = useRunSummary();
  const name = run?.objective ?? run?.id ?? "no run";
  return (
    <header className={css.bar} data-region="top bar">
      <button
        type="button"
        className={css.railButton}
        aria-label={railNarrow ? "Widen the page list" : "Narrow the page list"}
        onClick={() => changeSettings({ railNarrow: !railNarrow })}
      >
        <MenuIcon aria-hidden />
      </button>
      <span className={css.project}>{me?.project ?? "overstory"}</span>
      <button
        type="button"
        className={css.run}
        onClick={() => openPanel("runs")}
        aria-label={`Run ${name}, switch run`}
      >
        <span>{name}</span>
        <ChevronDown aria-hidden />
      </button>
      <TargetChip target={target} />
      <span className={css.space} />
      <InboxChip />
      <BudgetMeter burn={burn} />
      <ConnectionChip />
      <Tip text="Actions, agents, pages" keys="Mod+K">
        <button type="button" className={css.palette} onClick={() => openPanel("palette")}>
          <Keys keys="Mod+K" />
          <span className="visually-hidden"> opens the command palette</span>
        </button>
      </Tip>
    </header>
  );
}

function TargetChip({ target }: Pick<RunSummary, "target">) {
  if (target === undefined) return null;
  return (
    <span className={css.target}>
      <span className={css.targetBranch}>
        <Middle text={target.branch} tail={16} />
      </span>{" "}
      <span className={css.commit}>{shortCommit(target.commit)}</span>
      <VerdictMark verdict={target.verdict} />
    </span>
  );
}

function InboxChip() {
  const { data } = useAttention();
  const open = data?.items ?? [];
  const [worst] = open;
  const look = worst === undefined ? undefined : attentionLook(worst.kind);
  return (
    <button
      type="button"
      className={css.inbox}
      data-tone={look?.tone}
      onClick={() => openPanel("inbox")}
      aria-keyshortcuts="i"
    >
      {look === undefined ? null : <Glyph name={look.glyph} tone={look.tone} />}
      <span role="status">
        {worst === undefined
          ? data === undefined
            ? ""
            : "Nothing needs you"
          : `${open.length} ${open.length === 1 ? "needs" : "need"} you: ${look?.word}`}
      </span>
    </button>
  );
}

/** Four forms: no budget, normal, from 80 %, reached. */
function BudgetMeter({ burn }: { burn: Burn | undefined }) {
  if (burn === undefined) return null;
  const { usd, usdPerHour, limit } = burn;
  const rate = usdPerHour === null ? null : `${money(usdPerHour)}/h`;
  if (limit === null) {
    return (
      <span className={css.meter}>
        <b>{money(usd)}</b>
        {rate === null ? null : <span className={css.rate}>{rate}</span>}
      </span>
    );
  }
  const percent = limit === 0 ? 100 : Math.round((usd / limit) * 100);
  const tone: Tone | undefined = percent >= 100 ? "budget" : percent >= 80 ? "attn" : undefined;
  const left = usdPerHour === null ? undefined : span(((limit - usd) / usdPerHour) * 3_600_000);
  return (
    <span
      className={css.meter}
      data-tone={tone}
      title={left === undefined || percent >= 100 ? undefined : `Limit reached in about ${left} at this rate`}
    >
      <b>
        {money(usd)}
        <span className={css.of}>/{money(limit)}</span>
      </b>
      <svg
        className={css.meterBar}
        viewBox="0 0 100 6"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${percent} % of the budget spent`}
      >
        <rect className={css.meterGround} width="100" height="6" />
        <rect className={css.meterSpent} width={Math.min(100, percent)} height="6" />
      </svg>
      <span className={css.rate}>{percent >= 100 ? "new turns stopped" : rate}</span>
    </span>
  );
}

function ConnectionChip() {
  const state = useConnection();
  const { data: me } = useMe();
  const now = useNow();
  const viewer = me?.user === "viewer" ? ", viewer" : "";
  const words: Readonly<Record<typeof state.kind, string>> = {
    connecting: "connecting",
    live: `live${viewer}`,
    "catching-up": "catching up",
    reconnecting: state.kind === "reconnecting" ? `reconnecting ${span(now - state.since)}` : "",
    "signed-out": "signed out",
  };
  const tone: Tone =
    state.kind === "live" ? "live" : state.kind === "connecting" || state.kind === "catching-up" ? "idle" : "attn";
  return (
    <span className={css.connection} data-tone={tone} data-connection={state.kind}>
      <svg viewBox="0 0 8 8" aria-hidden="true">
        <circle cx="4" cy="4" r="3" />
      </svg>
      {words[state.kind]}
    </span>
  );
}

/** Under the top bar, when what is shown is not what is. */
export function ConnectionBanner() {
  const state = useConnection();
  const now = useNow();
  const frozenAt = useFrozen();
  if (state.kind === "signed-out") {
    return (
      <div className={css.banner} role="alert" data-tone="attn">
        <p>
          Signed out. Open the page again with the address that <code>ov serve --open</code> prints.
        </p>
      </div>
    );
  }
  if (state.kind !== "reconnecting" || now - state.since < 3000) {
    if (frozenAt === undefined) return null;
    return (
      <div className={css.banner} role="status" data-tone="park">
        <p>Frozen at {clockTime(frozenAt)}. What happens meanwhile is kept, and shown when you go on.</p>
        <Button keys="p" onClick={() => connection.toggleFreeze()}>
          Go on
        </Button>
      </div>
    );
  }
  return (
    <div className={css.banner} role="alert" data-tone="attn">
      <p>
        Not connected since {clockTime(state.since)}. Showing what was known then; actions are off. Trying again in{" "}
        {span(Math.max(0, state.nextTry - now))}.
      </p>
      <Button onClick={() => connection.tryNow()}>Try now</Button>
    </div>
  );
}
