import { conformance } from "../../../testkit/conformance/kit.ts";

conformance("claude-2.1.197");
