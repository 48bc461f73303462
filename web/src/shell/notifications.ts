import { useEffect } from "react";
import { useAttention } from "../api/resources.ts";
import type { AttentionItem, AttentionKind } from "../api/types.ts";
import { changeSettings, readSettings } from "../state/settings.ts";
import { toast } from "../state/toasts.ts";
import { count } from "../state/words.ts";
import { openPanel } from "./panels.ts";

/** What is worth a mark in the tab, and a word of the browser while nobody looks. */
const urgentKinds: ReadonlySet<AttentionKind> = new Set(["decision", "target", "budget", "risk", "merge"]);

export const isUrgent = ({ kind }: Pick<AttentionItem, "kind">): boolean => urgentKinds.has(kind);

/** What comes together is told together. */
const collectMs = 10_000;
const mostKnown = 300;
const place = "overstory.told";

/** Told or seen before, in any tab of this browser. */
function known(): readonly string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(place) ?? "[]");
    return Array.isArray(stored) ? stored.map(String) : [];
  } catch {
    // What was told is only forgotten.
    return [];
  }
}

function newOnes(items: readonly AttentionItem[]): readonly AttentionItem[] {
  const before = new Set(known());
  return items.filter(({ id }) => !before.has(id));
}

function remember(items: readonly AttentionItem[]): void {
  const ids = newOnes(items).map(({ id }) => id);
  if (ids.length > 0) localStorage.setItem(place, JSON.stringify([...known(), ...ids].slice(-mostKnown)));
}

let urgent: readonly AttentionItem[] = [];
let collecting: ReturnType<typeof setTimeout> | undefined;

const isInSight = (): boolean => document.visibilityState === "visible";

/** The browser has not been asked yet whether it may show notifications. */
const isUnasked = (): boolean => typeof Notification !== "undefined" && Notification.permission === "default";

function tell(): void {
  collecting = undefined;
  const items = newOnes(urgent);
  if (isInSight() || items.length === 0 || isUnasked()) return;
  remember(items);
  if (!readSettings().notifications || typeof Notification === "undefined") return;
  if (Notification.permission !== "granted") return;
  const [first] = items;
  const title = items.length === 1 ? "Overstory needs you" : `${count(items.length, "thing")} need you`;
  const shown = new Notification(title, { body: first?.sentence ?? "", tag: "overstory", icon: "/icon-mark.svg" });
  shown.onclick = () => {
    window.focus();
    openPanel("inbox");
    shown.close();
  };
}

/** Offers notifications when the first one would have been of use. */
function offer(items: readonly AttentionItem[]): void {
  if (items.length === 0 || !isUnasked() || !readSettings().notifications) return;
  toast(`${count(items.length, "thing")} needed you while the page was out of sight.`, {
    action: { label: "Tell me next time", run: () => void askBrowser() },
  });
}

/** Asks the browser whether it may show notifications. */
export async function askBrowser(): Promise<void> {
  if (typeof Notification === "undefined") return toast("This browser has no notifications.", { failed: true });
  const answer = await Notification.requestPermission();
  if (answer === "granted") return toast("The browser tells you of what is urgent while the page is out of sight.");
  changeSettings({ notifications: false });
  toast("The browser does not allow notifications of this page. Its own settings can change that.", { failed: true });
}

/** Tells a person who does not look of each urgent thing once. */
export function useNotifications(): void {
  const { data } = useAttention();
  useEffect(() => {
    if (data === undefined) return;
    urgent = data.items.filter(isUrgent);
    if (isInSight()) remember(urgent);
    else if (newOnes(urgent).length > 0) collecting ??= setTimeout(tell, collectMs);
  }, [data]);
  useEffect(() => {
    const look = (): void => {
      if (!isInSight()) return;
      clearTimeout(collecting);
      collecting = undefined;
      offer(newOnes(urgent));
      remember(urgent);
    };
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
}
