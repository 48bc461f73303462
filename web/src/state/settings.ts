import { createStore, useStore } from "./store.ts";
import { writeTwelveHours } from "./words.ts";

export const themes = ["system", "light", "dark", "contrast-light", "contrast-dark"] as const;
export const densities = ["default", "compact", "touch"] as const;
export const timeFormats = ["24h", "12h"] as const;
export const motions = ["system", "reduced"] as const;

export interface Settings {
  readonly theme: (typeof themes)[number];
  readonly density: (typeof densities)[number];
  /** Single letters act. Off for people whose dictation or switch device types letters. */
  readonly singleKeys: boolean;
  readonly railNarrow: boolean;
  readonly timeFormat: (typeof timeFormats)[number];
  readonly motion: (typeof motions)[number];
  /** The browser tells of what is urgent while the page is out of sight. */
  readonly notifications: boolean;
}

const place = "overstory.settings";
const defaults: Settings = {
  theme: "system",
  density: "default",
  singleKeys: true,
  railNarrow: false,
  timeFormat: "24h",
  motion: "system",
  notifications: true,
};

function stored(): Settings {
  try {
    return { ...defaults, ...JSON.parse(localStorage.getItem(place) ?? "{}") };
  } catch {
    // A setting that cannot be read is only a matter of looks.
    return defaults;
  }
}

const settings = createStore<Settings>(stored());

export const useSettings = (): Settings => useStore(settings);
export const readSettings = (): Settings => settings.get();

export function changeSettings(change: Partial<Settings>): void {
  settings.set((before) => ({ ...before, ...change }));
  localStorage.setItem(place, JSON.stringify(settings.get()));
}

const asks = {
  dark: matchMedia("(prefers-color-scheme: dark)"),
  contrast: matchMedia("(prefers-contrast: more), (forced-colors: active)"),
  coarse: matchMedia("(pointer: coarse)"),
};

/** Writes theme and density to the root element, now and whenever the settings or those of the system change. */
export function applyAppearance(): void {
  const apply = (): void => {
    const { theme, density, motion, timeFormat } = settings.get();
    writeTwelveHours(timeFormat === "12h");
    const { dataset } = document.documentElement;
    const own = asks.dark.matches ? "dark" : "light";
    dataset.theme = theme === "system" ? (asks.contrast.matches ? `contrast-${own}` : own) : theme;
    dataset.motion = motion;
    dataset.density = asks.coarse.matches ? "touch" : density;
  };
  for (const ask of Object.values(asks)) ask.addEventListener("change", apply);
  settings.subscribe(apply);
  apply();
}
