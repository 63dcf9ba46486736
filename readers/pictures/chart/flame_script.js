// What makes the flame graph answer: a click zooms, typing searches. Frames
// are <g class="f"> with their begin and width as parts of the whole.
(function () {
  'use strict';
  var script = document.currentScript;
  var svg = (script && script.ownerSVGElement) || document.documentElement;
  var frames = Array.prototype.map.call(
      svg.querySelectorAll('g.f'), function (g) {
        return {
          g: g,
          rect: g.querySelector('rect'),
          text: g.querySelector('text'),
          name: g.querySelector('title').textContent.split('\n')[0],
          shown: g.querySelector('text').getAttribute('data-s'),
          x: Number(g.getAttribute('data-x')),
          w: Number(g.getAttribute('data-w')),
          depth: Number(g.getAttribute('data-d')),
          bytes: Number(g.getAttribute('data-b'))
        };
      });
  var plot = svg.querySelector('#plot');
  var left = Number(plot.getAttribute('data-left'));
  var width = Number(plot.getAttribute('data-width'));
  var letter = Number(plot.getAttribute('data-letter'));
  var box = svg.querySelector('#search');
  var matched = svg.querySelector('#matched');
  var reset = svg.querySelector('#reset');
  var root = frames[0];
  var slack = 1e-9;

  function fit(name, pixels) {
    var room = Math.floor((pixels - 6) / letter);
    if (room < 3) return '';
    if (name.length <= room) return name;
    // A place is shown whole, or not at all.
    var place = name.lastIndexOf(' (');
    if (place > 0) name = name.slice(0, place);
    return name.length <= room ? name : name.slice(0, room - 2) + '..';
  }

  function place(frame, begin, share) {
    frame.g.style.display = '';
    frame.rect.setAttribute('x', (left + begin * width).toFixed(2));
    frame.rect.setAttribute('width', Math.max(share * width, 0.3).toFixed(2));
    frame.text.setAttribute('x', (left + begin * width + 3).toFixed(2));
    frame.text.textContent = fit(frame.shown, share * width);
  }

  // `to` gets the whole width, with what it is called by, pale, and what it
  // calls.
  function zoom(to) {
    frames.forEach(function (frame) {
      var above = frame.depth < to.depth && frame.x <= to.x + slack &&
          frame.x + frame.w >= to.x + to.w - slack;
      var inside = frame.depth >= to.depth && frame.x >= to.x - slack &&
          frame.x + frame.w <= to.x + to.w + slack;
      frame.g.classList.toggle('above', above);
      if (above) {
        place(frame, 0, 1);
      } else if (inside) {
        place(frame, (frame.x - to.x) / to.w, frame.w / to.w);
      } else {
        frame.g.style.display = 'none';
      }
    });
    reset.style.display = to === root ? 'none' : '';
  }

  var isTime = plot.getAttribute('data-unit') === 's';  // of nanoseconds

  function human(bytes) {
    if (isTime) return (bytes / 1e9).toFixed(3) + ' s';
    var units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
    var at = 0;
    while (bytes >= 1024 && at < units.length - 1) {
      bytes /= 1024;
      at += 1;
    }
    return (at === 0 ? bytes : bytes.toFixed(1)) + ' ' + units[at];
  }

  // Frames come with callers first: one within a match is not counted again.
  function search(text) {
    var wanted = text.toLowerCase();
    var found = [], sum = 0;
    frames.forEach(function (frame) {
      var hit = wanted !== '' && frame !== root &&
          frame.name.toLowerCase().indexOf(wanted) >= 0;
      frame.g.classList.toggle('hit', hit);
      if (!hit) return;
      var within = found.some(function (other) {
        return frame.depth > other.depth && frame.x >= other.x - slack &&
            frame.x + frame.w <= other.x + other.w + slack;
      });
      if (within) return;
      found.push(frame);
      sum += frame.bytes;
    });
    matched.textContent = wanted === '' ? '' : 'matched: ' + human(sum) + ', ' +
        (root.bytes > 0 ? 100 * sum / root.bytes : 0).toFixed(1) + ' %';
  }

  frames.forEach(function (frame) {
    frame.g.addEventListener('click', function () { zoom(frame); });
  });
  reset.addEventListener('click', function () { zoom(root); });
  if (box) box.addEventListener('input', function () { search(box.value); });
  svg.addEventListener('keydown', function (event) {
    if (event.key === 'Escape') zoom(root);
  });
  zoom(root);
})();
