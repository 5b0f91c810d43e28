/** The clock of the player. */

const still = window.matchMedia("(prefers-reduced-motion: reduce)");
const CALM = 500; // ms between pictures for readers who asked for less motion

export class Clock {
  /**
   * @param {(steps: number) => boolean} advance advances by a number of steps; false at the end
   * @param {(playing: boolean) => void} onChange
   */
  constructor(advance, onChange) {
    this.advance = advance;
    this.onChange = onChange;
    this.rate = 10; // steps per second
    this.playing = false;
  }

  play() {
    if (this.playing) return;
    this.playing = true;
    this.owed = 0;
    this.before = performance.now();
    this.onChange(true);
    requestAnimationFrame((now) => this.tick(now));
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    this.onChange(false);
  }

  tick(now) {
    if (!this.playing) return;
    const passed = now - this.before;
    if (passed >= (still.matches ? CALM : 0)) {
      this.before = now;
      this.owed += (Math.min(passed, 1000) / 1000) * this.rate;
      const steps = Math.floor(this.owed);
      this.owed -= steps;
      if (steps && !this.advance(steps)) {
        this.pause();
        return;
      }
    }
    requestAnimationFrame((next) => this.tick(next));
  }
}
