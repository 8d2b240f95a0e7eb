Reveal.initialize({ hash: true, transition: 'none' });
