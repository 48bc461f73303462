import { askBrowser } from "../../shell/notifications.ts";
import { changeSettings, densities, motions, themes, timeFormats, useSettings } from "../../state/settings.ts";
import { Choice } from "../../ui/controls.tsx";
import css from "./settings-page.module.css";

const words: Readonly<Record<string, string>> = {
  system: "As the system",
  light: "Light",
  dark: "Dark",
  "contrast-light": "High contrast, light",
  "contrast-dark": "High contrast, dark",
  default: "Default",
  compact: "Compact",
  touch: "Touch",
  "24h": "14:05",
  "12h": "2:05 pm",
  reduced: "Reduced",
  on: "On",
  off: "Off",
};
const optionsOf = <Value extends string>(values: readonly Value[]) =>
  values.map((value) => ({ value, label: words[value] ?? value }));

/** How the page looks in this browser. Nothing of it is stored on the server. */
export function Appearance() {
  const { theme, density, timeFormat, singleKeys, motion, notifications } = useSettings();
  return (
    <div className={css.keys}>
      <Row name="Theme" about="High contrast has borders instead of tints.">
        <Choice
          label="Theme"
          value={theme}
          options={optionsOf(themes)}
          onChoose={(value) => changeSettings({ theme: value })}
        />
      </Row>
      <Row name="Density" about="A finger gets touch density by itself.">
        <Choice
          label="Density"
          value={density}
          options={optionsOf(densities)}
          onChoose={(value) => changeSettings({ density: value })}
        />
      </Row>
      <Row name="Time of day" about="Exact moments with date and zone are shown on hover and focus.">
        <Choice
          label="Time of day"
          value={timeFormat}
          options={optionsOf(timeFormats)}
          onChoose={(value) => changeSettings({ timeFormat: value })}
        />
      </Row>
      <Row
        name="Single keys"
        about="Letters such as g f act at once. Off for dictation and switch devices; Ctrl keys stay."
      >
        <Choice
          label="Single keys"
          value={singleKeys ? "on" : "off"}
          options={optionsOf(["on", "off"])}
          onChoose={(value) => changeSettings({ singleKeys: value === "on" })}
        />
      </Row>
      <Row
        name="Notifications of this browser"
        about="Once for each decision, budget, stuck merge, work at risk or trouble with the target, while the page is out of sight."
      >
        <Choice
          label="Notifications of this browser"
          value={notifications ? "on" : "off"}
          options={optionsOf(["on", "off"])}
          onChoose={(value) => {
            changeSettings({ notifications: value === "on" });
            if (value === "on") void askBrowser();
          }}
        />
      </Row>
      <Row name="Motion" about="Reduced: nothing slides, fades or breathes.">
        <Choice
          label="Motion"
          value={motion}
          options={optionsOf(motions)}
          onChoose={(value) => changeSettings({ motion: value })}
        />
      </Row>
    </div>
  );
}

const Row = ({ name, about, children }: { name: string; about: string; children: React.ReactNode }) => (
  <div className={css.key}>
    <span>{name}</span>
    <div className={css.value}>{children}</div>
    <p className={css.words}>
      <span className="faint">{about}</span>
    </p>
  </div>
);
