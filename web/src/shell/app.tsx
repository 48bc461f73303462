import { Outlet } from "@tanstack/react-router";
import { Tooltip } from "radix-ui";
import { useEffect } from "react";
import { useAttention } from "../api/resources.ts";
import { useRunSummary } from "../api/run-summary.ts";
import { connection, useConnection, useFrozen } from "../live/resource.ts";
import { useCommands } from "../state/commands.ts";
import { changeSettings, readSettings, useSettings } from "../state/settings.ts";
import { toast, undoNewest } from "../state/toasts.ts";
import { useGo, useUrl } from "../state/url.ts";
import { GlyphSheet } from "../ui/glyph.tsx";
import { Confirmations, Overlay } from "../ui/overlays.tsx";
import { ToastList, Toasts } from "../ui/toasts.tsx";
import css from "./app.module.css";
import { AttentionList } from "./attention.tsx";
import { Inspector } from "./inspector.tsx";
import { KeySheet } from "./key-sheet.tsx";
import { isUrgent, useNotifications } from "./notifications.ts";
import { pages } from "./pages.ts";
import { Palette } from "./palette.tsx";
import { closePanel, openPanel, usePanel } from "./panels.ts";
import { BottomBar, Rail } from "./rail.tsx";
import { RunSwitcher } from "./run-switcher.tsx";
import { ConnectionBanner, TopBar } from "./top-bar.tsx";

/** The frame around every page. */
export function App() {
  const panel = usePanel();
  const { railNarrow } = useSettings();
  const { kind } = useConnection();
  useShellCommands();
  useTitle();
  useGapWords();
  useNotifications();
  return (
    <Tooltip.Provider delayDuration={400}>
      <GlyphSheet />
      <a className={css.skip} href="#page">
        Skip to the page
      </a>
      <div
        className={css.app}
        data-rail={railNarrow ? "narrow" : "wide"}
        data-stale={kind === "reconnecting" || undefined}
      >
        <TopBar />
        <ConnectionBanner />
        <Rail />
        <main id="page" className={css.page} data-region="page" tabIndex={-1}>
          <Outlet />
        </main>
        <Inspector />
        <BottomBar />
      </div>
      <Overlay title="Needs you" shape="panel" open={panel === "inbox"} onClose={closePanel}>
        <div className={css.inbox}>
          <AttentionList calm="Nothing needs you." isOverPage />
        </div>
      </Overlay>
      <Palette panel={panel} />
      <RunSwitcher open={panel === "runs"} />
      <KeySheet open={panel === "keys"} />
      <ToastList open={panel === "messages"} onClose={closePanel} />
      <Confirmations />
      <Toasts />
    </Tooltip.Provider>
  );
}

function useShellCommands(): void {
  const go = useGo();
  const { search, set } = useUrl();
  const isFrozen = useFrozen() !== undefined;
  useCommands(
    "Go to",
    pages.map(({ path, title, letter }) => ({
      id: `go.${path}`,
      label: title,
      keys: `g ${letter}`,
      run: () => go(path),
    })),
  );
  useCommands("Everywhere", [
    { id: "palette", label: "Command palette", keys: "Mod+K", run: () => openPanel("palette"), onlyKeys: true },
    { id: "search", label: "Search the record", keys: "/ /", run: () => openPanel("search") },
    { id: "inbox", label: "Open the inbox", keys: "i", run: () => openPanel("inbox") },
    { id: "runs", label: "Switch run", keys: "r", run: () => openPanel("runs") },
    { id: "messages", label: "Messages of this visit", keys: "Shift+I", run: () => openPanel("messages") },
    {
      id: "rail",
      label: "Narrow or widen the page list",
      keys: "[",
      run: () => changeSettings({ railNarrow: !readSettings().railNarrow }),
    },
    ...(search.peek === undefined
      ? []
      : [{ id: "peek", label: "Close the inspector", keys: "]", run: () => set({ peek: undefined }) }]),
    {
      id: "freeze",
      label: isFrozen ? "Show what happened meanwhile" : "Freeze the page",
      keys: "p",
      run: () => connection.toggleFreeze(),
    },
    { id: "region", label: "Next region", keys: "F6", run: focusNextRegion, onlyKeys: true },
    { id: "undo", label: "Undo what the newest message tells", keys: "Mod+Z", run: undoNewest, onlyKeys: true },
    { id: "keys", label: "All keys", keys: "?", run: () => openPanel("keys") },
    { id: "theme.light", label: "Light theme", run: () => changeSettings({ theme: "light" }) },
    { id: "theme.dark", label: "Dark theme", run: () => changeSettings({ theme: "dark" }) },
    { id: "theme.system", label: "Theme of the system", run: () => changeSettings({ theme: "system" }) },
    { id: "density.compact", label: "Compact rows", run: () => changeSettings({ density: "compact" }) },
    { id: "density.default", label: "Default rows", run: () => changeSettings({ density: "default" }) },
  ]);
}

function focusNextRegion(): void {
  const regions = [...document.querySelectorAll<HTMLElement>("[data-region]")].filter(
    ({ offsetParent }) => offsetParent !== null,
  );
  const here = regions.findIndex((region) => region.contains(document.activeElement));
  const next = regions[(here + 1) % regions.length];
  const target = next?.querySelector<HTMLElement>("[tabindex='0'], button, a, input");
  (target ?? next)?.focus();
}

/** After a break, or a swarm of changes, that was longer than what the server keeps. */
function useGapWords(): void {
  const state = useConnection();
  const isGap = state.kind === "live" && state.gap;
  useEffect(() => {
    if (isGap) toast("More has changed than the server keeps one by one. The page was read anew; nothing is missing.");
  }, [isGap]);
}

/** `(2) objective - Overstory`: how many things wait stands in the tab too; its icon has a mark when one is urgent. */
function useTitle(): void {
  const { run } = useRunSummary();
  const { data: attention } = useAttention();
  const open = attention?.items.length ?? 0;
  const objective = run?.objective;
  useEffect(() => {
    const name = objective === undefined || objective === null ? "Overstory" : `${objective} - Overstory`;
    document.title = open === 0 ? name : `(${open}) ${name}`;
  }, [open, objective]);
  const isMarked = attention?.items.some(isUrgent) === true;
  useEffect(() => {
    const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    if (icon !== null) icon.href = isMarked ? "/icon-mark.svg" : "/icon.svg";
  }, [isMarked]);
}
