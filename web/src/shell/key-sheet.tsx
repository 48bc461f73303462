import { useCommandGroups } from "../state/commands.ts";
import { changeSettings, useSettings } from "../state/settings.ts";
import { Keys } from "../ui/controls.tsx";
import { Overlay } from "../ui/overlays.tsx";
import css from "./key-sheet.module.css";
import { closePanel } from "./panels.ts";

/** Keys of every list, which the lists hear themselves. */
const listKeys = [
  ["j k", "Next, previous row"],
  ["Enter", "Open"],
  ["o", "Look beside the list"],
  ["Space", "Select; Shift extends"],
  ["← →", "Fold, unfold"],
  ["Home End", "First, last row"],
  ["Shift+F10", "Menu of the row"],
  [".", "Apply waiting changes"],
] as const;

/** All keys that act now. */
export function KeySheet({ open }: { open: boolean }) {
  const groups = useCommandGroups();
  const { singleKeys } = useSettings();
  return (
    <Overlay title="Keys" open={open} onClose={closePanel}>
      <label className={css.switch}>
        <input
          type="checkbox"
          checked={singleKeys}
          onChange={(event) => changeSettings({ singleKeys: event.target.checked })}
        />
        Single letters act
      </label>
      <div className={css.groups}>
        {groups
          .map(({ title, commands }) => ({ title, commands: commands.filter(({ keys }) => keys !== undefined) }))
          .filter(({ commands }) => commands.length > 0)
          .map(({ title, commands }) => (
            <section key={title}>
              <h2>{title}</h2>
              <dl>
                {commands.map(({ id, keys = "", label }) => (
                  <div key={id}>
                    <dt>
                      <Keys keys={keys} />
                    </dt>
                    <dd>{label}</dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
        <section>
          <h2>In every list</h2>
          <dl>
            {listKeys.map(([keys, label]) => (
              <div key={keys}>
                <dt>
                  <Keys keys={keys} />
                </dt>
                <dd>{label}</dd>
              </div>
            ))}
          </dl>
        </section>
      </div>
    </Overlay>
  );
}
