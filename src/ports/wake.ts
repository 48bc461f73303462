/** Tells the engine to look now. Carries no data and may be lost; the engine then finds the work by itself. */
export type Wake = () => Promise<void>;
