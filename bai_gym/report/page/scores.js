/** Scores over all environments. */
export function scores(section) {}
