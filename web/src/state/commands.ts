import { useEffect, useRef } from "react";
import { readSettings } from "./settings.ts";
import { createStore, useStore } from "./store.ts";

/** Something a person can do now: by key, from the palette, or as read in the sheet of keys. */
export interface Command {
  readonly id: string;
  readonly label: string;
  /** `g f`, `Shift+P`, `?`, `Mod+K`. Mod is Ctrl, and Cmd on a Mac. */
  readonly keys?: string | undefined;
  readonly run: () => void;
  /** Why it is not possible now. The command stays listed. */
  readonly disabled?: string | undefined;
  /** Listed in the sheet of keys only: moving inside of a list is no action. */
  readonly onlyKeys?: boolean | undefined;
}

export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly Command[];
  /** They belong to what lies over the page: their keys count there too, and as long as nothing else lies over that. */
  readonly isOverPage?: boolean | undefined;
}

const groups = createStore<readonly CommandGroup[]>([]);

/** All groups that are on the page, those of the innermost part last. */
export const useCommandGroups = (): readonly CommandGroup[] => useStore(groups);

/** Offers commands while the component is on the page. The newest group that knows a key gets it. */
export function useCommands(title: string, commands: readonly Command[], isOverPage = false): void {
  const current = useRef(commands);
  current.current = commands;
  const signature = commands.map(({ id, label, keys, disabled }) => `${id}|${label}|${keys}|${disabled}`).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: what a command does may be new in each drawing; the list is told only when it reads differently
  useEffect(() => {
    const group: CommandGroup = {
      title,
      commands: current.current.map((command, at) => ({
        ...command,
        run: () => (current.current[at] ?? command).run(),
      })),
      isOverPage,
    };
    groups.set((before) => [...before, group]);
    return () => groups.set((before) => before.filter((other) => other !== group));
  }, [title, signature, isOverPage]);
}

/** Starts to listen for keys. A letter counts only outside of fields; `Mod` keys count everywhere. */
export function listenForKeys(): void {
  let begun = "";
  let forget: ReturnType<typeof setTimeout> | undefined;
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const stroke = strokeOf(event);
    const single = !stroke.startsWith("Mod+") && !/^F\d/.test(stroke);
    // A key that put the focus into a field may be the first half of two: `/` filters, `/ /` searches everything.
    const goesOn = begun !== "" && isEmptyField(event.target);
    if (single && ((isField(event.target) && !goesOn) || !readSettings().singleKeys)) return;
    const over = document.querySelectorAll("[role=dialog][data-state=open], [role=menu][data-state=open]").length;
    // A dialog keeps the keys that belong to the page behind it, and a question over a panel those of the panel.
    if (single && over > 1) return;
    const all = groups
      .get()
      .filter(({ isOverPage }) => !single || over === 0 || isOverPage === true)
      .flatMap(({ commands }) => commands);
    const typed = begun === "" ? stroke : `${begun} ${stroke}`;
    const alone = goesOn ? undefined : all.findLast(({ keys }) => keys === stroke);
    const found = all.findLast(({ keys }) => keys === typed) ?? alone;
    const isWhole = found?.keys === typed && begun !== "";
    clearTimeout(forget);
    begun = "";
    if (found !== undefined) {
      event.preventDefault();
      if (found.disabled === undefined) found.run();
    }
    if (goesOn || isWhole || !all.some(({ keys }) => keys?.startsWith(`${stroke} `) === true)) return;
    event.preventDefault();
    begun = stroke;
    forget = setTimeout(() => {
      begun = "";
    }, 1200);
  });
}

function strokeOf(event: KeyboardEvent): string {
  const letter = event.key.length === 1;
  const mod = event.ctrlKey || event.metaKey ? "Mod+" : "";
  // The key of a sign such as `?` says Shift already; only with letters and named keys it must be told.
  const shift = event.shiftKey && (!letter || /[a-z]/i.test(event.key)) ? "Shift+" : "";
  const alt = event.altKey ? "Alt+" : "";
  const name = letter && (mod !== "" || shift !== "") ? event.key.toUpperCase() : event.key;
  return `${mod}${alt}${shift}${name === " " ? "Space" : name}`;
}

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches("input:not([type=checkbox]):not([type=radio]), textarea, select"));

const isEmptyField = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement && isField(target) && target.value === "";

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

/** Keys as they are printed on the keyboard at hand. */
export const keyWords = (keys: string): string =>
  keys.replaceAll("Mod+", isMac ? "Cmd " : "Ctrl ").replaceAll("+", " ");
