import { useCommands } from "../../state/commands.ts";
import { useUrl } from "../../state/url.ts";
import { Choice } from "../../ui/controls.tsx";
import { Audit } from "./audit.tsx";
import { Checks } from "./checks.tsx";
import { ServiceList } from "./services.tsx";

const tabs = ["checks", "services", "audit"] as const;
const titles = { checks: "Checks", services: "Services", audit: "Audit" } as const;

/** Is the project sound, do its services run, and what was changed over the web and refused. */
export default function HealthPage() {
  const { search, set } = useUrl();
  const tab = tabs.find((each) => each === search.tab) ?? "checks";
  useCommands(
    "Health",
    tabs.map((each, at) => ({
      id: `health.${each}`,
      label: titles[each],
      keys: String(at + 1),
      run: () => set({ tab: each === "checks" ? undefined : each }),
    })),
  );
  const views = (
    <Choice
      label="View"
      value={tab}
      options={tabs.map((value, at) => ({ value, label: titles[value], keys: String(at + 1) }))}
      onChoose={(value) => set({ tab: value === "checks" ? undefined : value, check: undefined, q: undefined })}
    />
  );
  if (tab === "audit") return <Audit views={views} />;
  return tab === "services" ? <ServiceList views={views} /> : <Checks views={views} />;
}
